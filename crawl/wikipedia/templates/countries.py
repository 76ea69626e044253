"""Templates that show a flag and the name behind it, by country code or by name."""

from wikisum.crawl.wikipedia.templates.rules import Call, Rule

_CODES = (
    "AFG Afghanistan;ALB Albania;ALG Algeria;DZA Algeria;AND Andorra;ANG Angola;AGO Angola;"
    "ARG Argentina;ARM Armenia;AUS Australia;AUT Austria;AZE Azerbaijan;BAH Bahamas;BHR Bahrain;"
    "BAN Bangladesh;BGD Bangladesh;BLR Belarus;BEL Belgium;BOL Bolivia;BIH Bosnia and Herzegovina;"
    "BOT Botswana;BWA Botswana;BRA Brazil;BUL Bulgaria;BGR Bulgaria;CAM Cambodia;KHM Cambodia;"
    "CMR Cameroon;CAN Canada;CHI Chile;CHL Chile;CHN China;PRC China;COL Colombia;CRC Costa Rica;"
    "CRI Costa Rica;CRO Croatia;HRV Croatia;CUB Cuba;CYP Cyprus;CZE Czech Republic;DEN Denmark;"
    "DNK Denmark;DOM Dominican Republic;ECU Ecuador;EGY Egypt;ESA El Salvador;SLV El Salvador;"
    "ENG England;EST Estonia;ETH Ethiopia;FIJ Fiji;FJI Fiji;FIN Finland;FRA France;GEO Georgia;"
    "GER Germany;DEU Germany;GHA Ghana;GRE Greece;GRC Greece;GUA Guatemala;GTM Guatemala;"
    "HAI Haiti;HTI Haiti;HON Honduras;HND Honduras;HKG Hong Kong;HUN Hungary;ISL Iceland;"
    "IND India;INA Indonesia;IDN Indonesia;IRI Iran;IRN Iran;IRQ Iraq;IRL Ireland;ISR Israel;"
    "ITA Italy;CIV Ivory Coast;JAM Jamaica;JPN Japan;JOR Jordan;KAZ Kazakhstan;KEN Kenya;"
    "KOS Kosovo;KUW Kuwait;KWT Kuwait;KGZ Kyrgyzstan;LAO Laos;LAT Latvia;LVA Latvia;LIB Lebanon;"
    "LBN Lebanon;LBY Libya;LIE Liechtenstein;LTU Lithuania;LUX Luxembourg;MAS Malaysia;"
    "MYS Malaysia;MLI Mali;MLT Malta;MEX Mexico;MDA Moldova;MON Monaco;MCO Monaco;MGL Mongolia;"
    "MNG Mongolia;MNE Montenegro;MAR Morocco;MOZ Mozambique;MYA Myanmar;MMR Myanmar;NAM Namibia;"
    "NEP Nepal;NPL Nepal;NED Netherlands;NLD Netherlands;NZL New Zealand;NCA Nicaragua;"
    "NGR Nigeria;NGA Nigeria;PRK North Korea;MKD North Macedonia;NIR Northern Ireland;NOR Norway;"
    "OMA Oman;OMN Oman;PAK Pakistan;PAN Panama;PAR Paraguay;PRY Paraguay;PER Peru;PHI Philippines;"
    "PHL Philippines;POL Poland;POR Portugal;PRT Portugal;PUR Puerto Rico;PRI Puerto Rico;"
    "QAT Qatar;ROU Romania;ROM Romania;RUS Russia;KSA Saudi Arabia;SAU Saudi Arabia;SCO Scotland;"
    "SEN Senegal;SRB Serbia;SGP Singapore;SIN Singapore;SVK Slovakia;SLO Slovenia;SVN Slovenia;"
    "RSA South Africa;ZAF South Africa;KOR South Korea;URS Soviet Union;USSR Soviet Union;"
    "ESP Spain;SRI Sri Lanka;LKA Sri Lanka;SUD Sudan;SDN Sudan;SWE Sweden;SUI Switzerland;"
    "CHE Switzerland;SYR Syria;TPE Chinese Taipei;TWN Taiwan;ROC Taiwan;TJK Tajikistan;"
    "TAN Tanzania;TZA Tanzania;THA Thailand;TRI Trinidad and Tobago;TTO Trinidad and Tobago;"
    "TUN Tunisia;TUR Turkey;TKM Turkmenistan;UGA Uganda;UKR Ukraine;UAE United Arab Emirates;"
    "ARE United Arab Emirates;GBR United Kingdom;UK United Kingdom;USA United States;"
    "US United States;URU Uruguay;URY Uruguay;UZB Uzbekistan;VEN Venezuela;VIE Vietnam;"
    "VNM Vietnam;WAL Wales;YEM Yemen;YUG Yugoslavia;ZAM Zambia;ZMB Zambia;ZIM Zimbabwe;"
    "ZWE Zimbabwe;EU European Union;UN United Nations"
)
COUNTRY_BY_CODE = dict(entry.split(" ", 1) for entry in _CODES.split(";"))


def _country(call: Call) -> str:
    name = call.get("name") or call.value(0)
    return COUNTRY_BY_CODE.get(name.upper() if len(name) <= 4 else name, name)


def _by_own_name(call: Call) -> str:
    """`{{USA}}`: the name of the template is the code of the country (English wikis only)."""
    name = call.get("name", "ziel") or call.value(0)
    return name or (COUNTRY_BY_CODE[call.name.upper()] if call.language == "en" else "")


def _athlete(call: Call) -> str:
    """`Name|USA`, shown as "Name (USA)"."""
    return f"{call.value(0)} ({call.value(1)})" if call.value(1) else call.value(0)


RULES = [
    Rule(
        "Template:Flag",
        "flag; flagcountry; flagu; flagc; country; flag country; flagbig; flaglist; "
        "fb; fb-big; fbw; nft; cr; cr-rt; crw; ru; ru-rt; rut; rlt; bk; bkw; hb; vb; ih; bb; "
        "noflag; "
        "nofb; army; navy; air force; marine; military; coast guard; flagioc; flagioc2; "
        "flag ioc; naval; flag+link; flaglink; flagteam; country data; flagg; noc; fh; wp flag",
        _country,
    ),
    Rule(
        "Template:Flagathlete",
        "flagathlete; flagiocathlete; flagiocmedalist; flagmedalist; flag athlete",
        _athlete,
    ),
    Rule(
        "Template:USA", "; ".join(c.lower() for c in COUNTRY_BY_CODE if len(c) == 3), _by_own_name
    ),
]
