"""Words that say nothing about a topic, by language.

They tell languages apart, and never count as shared terms. No list is complete: each holds what
questions and plain prose use most.
"""

FUNCTION_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": """
            a about after all also an and any anything are as at be been before being between both
            but by can cannot could did do does doesn doing don done during each either else for
            from get gets getting go had has have having he her his how however i if in into is isn
            it its just let like many may me might more most much must my need needs no nor not of
            off on once one only or other our out over per same shall she should so some something
            such than that the their them then there these they this those through to too under
            until up upon us use used user uses using very via was we were what when where whether
            which while who whom whose why will with within without won would you your yourself
        """,
        "de": """
            aber alle als also am an auch auf aus bei beim bin bis da damit dann das dass dem den
            denn der des die dies diese diesem diesen dieser dieses doch du durch ein eine einem
            einen einer eines er es etwas für geht gibt hat hatte ich ihr ihre im in ist ja jede
            kann kein keine können man mein mit muss müssen nach nicht noch nur ob oder ohne sein
            sich sie sind so soll sowie um und uns unter vom von vor wann warum was welche welchem
            welchen welcher welches wenn wer werden wie wieso wir wird wo wofür womit wozu wurde zu
            zum zur zwischen über
        """,
        "fr": """
            afin ai alors après au aucun aussi aux avec avoir ce cela ces cette ceux chaque comme
            comment dans de depuis des deux donc dont du elle elles en entre est et faire fait faut
            ils je la le les leur lors lorsque lui mais mes moi mon même ne nous on ont ou où par
            pas peut peux plus plusieurs pour pourquoi puis qu quand que quel quelle quelles quels
            qui quoi sa sans se sera ses si soit son sont sous sur tous tout toute très un une vers
            vos votre vous à été être
        """,
        "es": """
            a al algo ante antes aunque cada como con contra cual cuales cuando cuál cuáles cuándo
            cuánto cómo de debe del desde donde durante dónde e el ella ellos en entre era es esa
            ese eso esta estas este esto estos está están fue ha hace hacer hasta hay la las le les
            lo los me mi mientras mis mucho muy más ni nos o otra otro para pero por porque puede
            puedo que quien quién qué se sea ser si sin sobre son su sus sí también tan tiene todo
            todos tu un una uno unos usted y ya
        """,
        "it": """
            a ad agli ai al alla alle allo anche c che chi ci come con cosa così cui da dai dal
            dalla dalle dei del della delle dello di dopo dove e ed era fare gli ha hanno i il in io
            la le lo loro ma mentre mi nei nel nella nelle nello no noi non o ogni per perché più
            poi posso prima può qual quale quali quando quanto questa queste questi questo qui se
            sei senza si sia sono su sua sue sui sul sulla suo tra tutti tutto un una uno è
        """,
        "pt": """
            a ao aos as até com como da das de dela dele depois deve do dos e ela ele em entre era
            essa esse esta este está eu faz fazer foi há isso isto já lhe mais mas me mesmo meu
            minha muito na nas nem no nos não o onde os ou para pela pelas pelo pelos pode por
            porque posso quais qual quando quanto que quem se sem ser seu seus sobre sua suas são
            também tem ter todos tudo um uma você à às é
        """,
        "nl": """
            aan al alle als altijd bij daar dan dat de den deze die dit doe doen doet door een en er
            gebruik gebruiken geen haar had heb hebben heeft het hier hij hoe iets ik in is je jouw
            kan kunnen maar meer met mijn moet naar niet nog nu of om omdat onder ons ook op over te
            tegen tot tussen uit van veel voor waar waarom waarvoor wanneer wat welk welke werd wie
            wij worden wordt zal ze zich zijn zo zonder
        """,
        "sv": """
            alla att av bara blir de den denna det detta dig din där efter eller en ett finns från
            får för genom gör ha han har hur här i inte jag kan kommer man med mellan men min mot
            mycket måste ni nu när någon något och om på samma sin sina ska skulle som så till under
            upp ut utan vad var vara varför varje vem vi vid vilka vilken vilket är över
        """,
        "da": """
            af alle at blev bliver da de den denne der deres det dette dig din du efter eller en er
            et for fordi fra få gør ham han har havde hun hvad hvem hver hvilke hvilken hvilket hvis
            hvor hvordan hvorfor hvornår i ikke jeg kan kun man med meget mellem men mit mod må
            noget nogle når og om op over på samme sig sin skal som så til ud uden var ved vi vil
            være
        """,
        "nb": """
            alle at av bare ble blir da de den denne der det dette din du eller en er et etter for
            fordi fra få gjør ha han har hun hva hvem hver hvilke hvilken hvilket hvis hvor hvordan
            hvorfor i ikke jeg kan man med mellom men min mot må noe noen når og om opp over på
            samme seg sin skal som så til ut uten var ved vi vil være
        """,
        "fi": """
            ei eikä eli en ennen entä että haluan hän ja joka jos jossa jota kanssa kuin kuinka kuka
            kun käyttää me miksi mikä mikäli milloin minkä minä missä mistä miten mitkä mitä mukaan
            mutta myös ne niin nyt ole olen olet oli olla on onko ovat pitää se sekä sen siitä sitä
            tai tehdä tulee tämä tämän vai vain voi voiko voin voit
        """,
        "pl": """
            aby albo ale ani bez być był było ci co czy czym dla do gdy gdzie go i ich ile innych ja
            jak jaka jaki jakie jako jego jej jest jeśli jeżeli już kiedy kto która które który
            których lub ma mam mnie mogę może można na nad nie niż o od oraz po pod podczas przed
            przez przy się są ta tak także te tego tej ten to tu tylko tym w wszystkie z za ze że
        """,
        "cs": """
            a aby ale ani až bez by byl bylo být co což do i jak jako jaká jaké jaký je jeho jejich
            jen ještě jsem jsou k kde kdo kdy když kterou která které který ma mezi mi mohu může na
            nad nebo není o od po pod podle pokud pro proto proč před při s se si tak také tento to
            toto tu u v ve však za ze že
        """,
        "tr": """
            acaba ama ancak bana ben bir biri birkaç biz bu bunu bunun da daha de değil diye en gibi
            hangi hangisi hem her hiç ile ise için kadar ki kim kimi mi mu mü mı nasıl ne neden
            nedir nerede o olan olarak olur ona onu onun sadece sonra tüm var ve veya ya yapılır yok
            çok çünkü üzerinde şey şu
        """,
        "ru": """
            а без бы был была были было быть в вам вас во вот все всех вы где да для до его ее если
            есть ещё же за и из или им их как какая какие каким какой какую ко когда которая которые
            который кто ли между меня мне можно мой мы на над надо не него нельзя нет ни но нужно о
            об он она они оно от перед по под почему при с свой себя со так также такой там то того
            тоже только том у уже чего чем через что чтобы эта эти это этого этой этом этот я
        """,
        "uk": """
            а або але без був була було бути в вам вас вже ви вона вони воно все всі від він де для
            до з за зі й його коли котрий лише мене мені ми може можна між на над не немає ні об обо
            он по при про під після та так такий там те то того тому тільки у хто це цей цього ці
            цієї чи чим чому що щоб я як яка яке який якщо які є і із інших їх її
        """,
    }.items()
}
"""Function words by ISO 639-1 code of the language."""
