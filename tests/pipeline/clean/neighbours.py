"""Sentences in languages that are like each other, by their labels in HeLI-OTS."""

GROUPS: list[dict[str, list[str]]] = [
    {
        "lit": [
            "Vakar vakare mes ilgai laukėme autobuso prie senosios stoties.",
            "Mano sesuo kiekvieną rytą geria arbatą su medumi ir skaito laikraštį.",
            "Vaikai žaidė sode, kol pradėjo lyti ir visi subėgo į namus.",
        ],
        "lav": [
            "Vakar vakarā mēs ilgi gaidījām autobusu pie vecās stacijas.",
            "Mana māsa katru rītu dzer tēju ar medu un lasa avīzi.",
            "Bērni spēlējās dārzā, līdz sāka līt un visi ieskrēja mājā.",
        ],
    },
    {
        "spa": [
            "Ayer por la tarde esperamos mucho tiempo el autobús junto a la vieja estación.",
            "Mi hermana bebe té con miel todas las mañanas y lee el periódico.",
            "Los niños jugaban en el jardín hasta que empezó a llover y entraron en casa.",
        ],
        "por": [
            "Ontem à tarde esperámos muito tempo pelo autocarro junto à velha estação.",
            "A minha irmã bebe chá com mel todas as manhãs e lê o jornal.",
            "As crianças brincavam no jardim até que começou a chover e entraram em casa.",
        ],
        "glg": [
            "Onte pola tarde agardamos moito tempo polo autobús xunto á vella estación.",
            "A miña irmá bebe té con mel todas as mañás e le o xornal.",
            "Os nenos xogaban no xardín ata que comezou a chover e entraron na casa.",
        ],
        "cat": [
            "Ahir a la tarda vam esperar molta estona l'autobús al costat de la vella estació.",
            "La meva germana beu te amb mel cada matí i llegeix el diari.",
            "Els nens jugaven al jardí fins que va començar a ploure i van entrar a casa.",
        ],
    },
    {
        "dan": [
            "I går aftes ventede vi længe på bussen ved den gamle station.",
            "Min søster drikker te med honning hver morgen, og så læser hun avisen.",
            "Børnene legede i haven, indtil det begyndte at regne, og alle løb ind i huset.",
        ],
        "swe": [
            "I går kväll väntade vi länge på bussen vid den gamla stationen.",
            "Min syster dricker te med honung varje morgon och läser tidningen.",
            "Barnen lekte i trädgården tills det började regna och alla sprang in i huset.",
        ],
        "nob": [
            "I går kveld ventet vi lenge på bussen ved den gamle stasjonen.",
            "Søsteren min drikker te med honning hver morgen og leser avisen etterpå.",
            "Barna lekte i hagen helt til det begynte å regne, og alle løp inn i huset.",
        ],
    },
    {
        "ces": [
            "Včera večer jsme dlouho čekali na autobus u starého nádraží.",
            "Moje sestra si každé ráno dává čaj s medem a při tom čte noviny.",
            "Děti si hrály na zahradě, dokud nezačalo pršet a všechny neutekly domů.",
        ],
        "slk": [
            "Včera večer sme dlho čakali na autobus pri starej stanici.",
            "Moja sestra pije každé ráno čaj s medom a číta noviny.",
            "Deti sa hrali v záhrade, kým nezačalo pršať a všetky nevbehli do domu.",
        ],
    },
    {
        "ukr": [
            "Учора ввечері ми довго чекали на автобус біля старого вокзалу.",
            "Моя сестра щоранку п'є чай із медом і читає газету.",
            "Діти гралися в саду, поки не почався дощ і всі не забігли до хати.",
        ],
        "rus": [
            "Вчера вечером мы долго ждали автобус возле старого вокзала.",
            "Моя сестра каждое утро пьёт чай с мёдом и читает газету.",
            "Дети играли в саду, пока не начался дождь и все не забежали в дом.",
        ],
        "bel": [
            "Учора ўвечары мы доўга чакалі аўтобус каля старога вакзала.",
            "Мая сястра кожную раніцу п'е гарбату з мёдам і чытае газету.",
            "Дзеці гулялі ў садзе, пакуль не пачаўся дождж і ўсе не забеглі ў хату.",
        ],
    },
    {
        "est": [
            "Eile õhtul ootasime vana jaama juures kaua bussi.",
            "Minu õde joob igal hommikul meega teed ja loeb ajalehte.",
            "Lapsed mängisid aias, kuni hakkas vihma sadama ja kõik jooksid majja.",
        ],
        "fin": [
            "Eilen illalla odotimme pitkään bussia vanhan aseman luona.",
            "Siskoni juo joka aamu teetä hunajan kanssa ja lukee sanomalehteä.",
            "Lapset leikkivät puutarhassa, kunnes alkoi sataa ja kaikki juoksivat taloon.",
        ],
    },
]
