#!/usr/bin/env bash
# Builds kube-apiserver and kube-controller-manager 1.20.2 from Debian 12's source package, which holds all Go modules
# that it needs, and takes etcd from Debian: into ./bin, in some minutes. All is done in the current folder; nothing is
# installed. Debian's patches are left out: they mend security, and the server listens on 127.0.0.1 while tests run.
set -euo pipefail
here=$PWD
mkdir -p apt/{sources,lists/partial,cache/archives/partial} packages programs bin gopath/src/k8s.io/kubernetes

# The system's own mirror, with sources: named in one of two files, each with a form of its own
one=/etc/apt/sources.list other=/etc/apt/sources.list.d/debian.sources
[ ! -f "$one" ] || sed 's/^deb \(.*\)/&\ndeb-src \1/' "$one" > apt/sources/debian.list
[ ! -f "$other" ] || sed 's/^Types:.*/Types: deb deb-src/' "$other" > apt/sources/debian.sources
apt() {
    apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$here/apt/sources" \
        -o Dir::State::Lists="$here/apt/lists" -o Dir::Cache="$here/apt/cache" -o APT::Sandbox::User=root \
        -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}
apt update
cd packages
apt download golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 etcd-server=3.4.23-4+b4
apt source --download-only --tar-only kubernetes=1.20.5+really1.20.2-1.1+deb12u1
sha256sum --check --strict --quiet << 'SUMS'
3a9445d4560ad6de1c375756b2a17d97713df44cbd20a658c871fe108af7ef5d  etcd-server_3.4.23-4+b4_amd64.deb
545123039b6c79e75cf2d86528781a825424cf33ce9d3f4513d772d7144cd531  golang-1.19-go_1.19.8-2_amd64.deb
2dfa82fe4f08f4e0193c532e561af4c91871f5235608f04f2bb8d57bb288df5a  golang-1.19-src_1.19.8-2_all.deb
b83c0780efb182d928dc63d46488a847f161f04e40a94b96bf5247dd671ecdfc  kubernetes_1.20.5+really1.20.2.orig.tar.gz
SUMS
for package in *.deb; do dpkg --extract "$package" ../programs; done
tar --extract --file kubernetes_*.orig.tar.gz --strip-components 1 --directory ../gopath/src/k8s.io/kubernetes
cd ../gopath/src/k8s.io/kubernetes

export GOROOT=$here/programs/usr/lib/go-1.19 GOPATH=$here/gopath GOCACHE=$here/gocache
export GO111MODULE=off GOPROXY=off CGO_ENABLED=0 PATH=$here/programs/usr/lib/go-1.19/bin:$PATH

# The API server's description of all its types is not in the package: its own generator writes it
go build -o "$here/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
folders_of_types() { grep -rl --include='*.go' -e '+k8s:openapi-gen=' "$@" | xargs -n1 dirname | sort -u; }
types=$(
    folders_of_types cmd pkg plugin | sed 's#^#k8s.io/kubernetes/#'
    cd staging/src
    folders_of_types k8s.io | grep -vE 'kube-aggregator/.*/testing|sample-|code-generator|_examples|/test/' |
        sed 's#^#k8s.io/kubernetes/vendor/#'
)
"$here/openapi-gen" -i "$(paste -sd, <<< "$types")" -p k8s.io/kubernetes/pkg/generated/openapi \
    -O zz_generated.openapi -h hack/boilerplate/boilerplate.generatego.txt -r "$here/violations.txt"

# Without the clouds' own volumes and load balancers, a quarter of the code
go build -tags providerless -ldflags '-s -w' -o "$here/bin/" ./cmd/kube-apiserver ./cmd/kube-controller-manager
cp "$here/programs/usr/bin/etcd" "$here/bin/"
cd "$here"
rm -rf apt packages programs gopath gocache openapi-gen violations.txt
