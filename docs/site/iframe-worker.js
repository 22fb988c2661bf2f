// Search in pages that are read from a disk, where browsers start no workers: the theme's worker runs in a frame instead.
// The theme's search looks for the name IFrameWorker, and its plugin `offline` for that of this file.
if (location.protocol === 'file:') {
    window.IFrameWorker = window.Worker = class extends EventTarget {
        #ready;

        constructor(url) {
            super();
            const frame = document.createElement('iframe');
            frame.hidden = true;
            document.body.append(frame);
            const inside = frame.contentWindow, script = inside.document.createElement('script');
            inside.postMessage = data => {
                const event = new MessageEvent('message', {data});
                this.dispatchEvent(event);
                this.onmessage?.(event);
            };
            script.src = url;
            this.#ready = new Promise(resolve => {
                script.onload = () => resolve(inside);
            });
            inside.document.head.append(script);
        }

        postMessage(data) {
            this.#ready.then(inside => inside.dispatchEvent(new inside.MessageEvent('message', {data})));
        }

        terminate() {}
    };
}
