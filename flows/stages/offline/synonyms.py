"""Synonymous expressions, abbreviations and words of staff papers.

Compiled for this project from general staff usage and the tuning part of the labelled data. A group has only
interchangeable words, none that differ in strength (likely, certain) or value (high, low), which decide
verdicts.
"""

PHRASES = """
    qrf: quick reaction force
    ecm: electronic countermeasures, electronic counter-measures
    ied: improvised explosive device
    victimoperated: pressure-plate, pressure plate, victim-operated, victim operated
    active: switched on, turned on
    ineffective: no effect, cannot defeat, can not defeat, not effective, does not work, cannot work
    ineffective: could not work, not work
    cog: centre of gravity, center of gravity, centres of gravity, centers of gravity
    critvuln: critical vulnerability, critical vulnerabilities
    roe: rules of engagement
    msr: main supply route
    nlt: no later than, not later than
    idp: internally displaced, displaced persons, displaced people
    endstate: end state, end-state
    conops: concept of operations
    coa: course of action, courses of action
    ccir: commander's critical information requirement, critical information requirement
    pir: priority intelligence requirement
    ffir: friendly force information requirement
    rfi: request for information, requests for information
    loc: line of communication, lines of communication
    aoo: area of operations, joint operations area
    hostnation: host nation, host-nation, host government
    impartial: even-handed, even-handedness, even handed
    kill: loss of life, lose their lives, lost their lives
    apod: air port of debarkation
    spod: sea port of debarkation
    alert: cell broadcast, cell-broadcast
    medevac: casualty evacuation, medical evacuation, medical evacuations
    aircontrol: air superiority
    defacto: de facto
    conduct: carry out, carried out
    establish: set up
    comprise: made up of, consists of, consist of
    rely: depends on, depend on, dependent on
    cause: leads to, led to, results in, resulted in
    exclude: rule out, ruled out
    exhausted: run out, ran out, runs out
    close: shut down
    command: in charge of
    assume: take over
    request: asked for, called for
    land: wheels-down, wheels down, touched down
    approve: sign-off, sign off
    reserve: back up
    unhcr: un high commissioner for refugees
    mou: memorandum of understanding
    sofa: status of forces agreement
    sop: standard operating procedure
    poc: point of contact
    lno: liaison officer
    vbied: vehicle-borne
    manpads: man-portable air defence
    sam: surface-to-air missile
    smallarms: small arms, small-arms
    returnfire: return fire, returned fire
    unaware: did not know, does not know, not aware, had not been told, was not told, unknown to
    unaware: not been informed
    depart: left the gate, leave the gate, set off, moved out, set out
"""
"""One word per line, with the expressions that it replaces after the colon."""

SYNONYMS = """
    kill dead die death fatality fatal deceased
    wound injure injury hurt
    vehicle truck lorry
    helicopter rotary helo aircraft airframe rotary-wing chopper
    drone uav uas unmanned
    ship vessel
    boat craft
    soldier troop personnel serviceman
    civilian noncombatant
    resident inhabitant people person citizen
    population populace
    refugee idp displace evacuee
    jammer ecm jam
    explosive ied bomb blast explosion detonate
    spare part component
    strip cannibalise cannibalize
    late delay behind belated
    leave depart departure
    arrive arrival reach land landing
    approve approval authorise authorize authorisation authorization consent permit permission clearance
    minister ministerial ministry
    believe think belief thought
    wrong mistake mistaken erroneous incorrect
    phone telephone mobile cellphone
    alert warning warn
    peak crest maximum
    beat exceed surpass above
    dispute contest contested contention disagree unsettle unresolve
    await due pending outstanding
    independent external
    shortage shortfall deficit lack insufficient gap
    exhaust deplete deplet consume exhausted
    cause reason result lead
    begin start commence onset launch
    end finish complete completion conclude
    stop halt cease
    ceasefire truce armistice
    attack strike assault offensive
    ambush attack
    defend defence defense defensive
    enemy adversary hostile opponent
    friendly own
    ally partner coalition
    commander commanding comd cdr
    headquarters hq
    battalion bn
    brigade bde
    regiment regt
    company coy
    division div
    engineer engr sapper
    logistics logistic sustainment supply resupply provision stores
    medical med medic
    hospital clinic medevac
    fuel diesel petrol pol
    water potable
    food ration
    aid relief humanitarian assistance
    shelter accommodation camp
    road route msr highway motorway
    bridge crossing span
    river waterway
    port harbour harbor spod
    airport airfield airbase apod airstrip
    rail railway train
    border frontier boundary
    capital city town
    village settlement hamlet
    region district province area zone sector
    force unit formation
    reserve backup contingency
    require need necessary requirement
    available availability
    protect protection secure security safeguard
    escort convoy
    patrol recce reconnaissance surveillance
    intelligence intel
    assess assessment judge evaluate estimate
    assume assumption presume
    risk hazard danger threat
    constraint constrain oblige
    restraint restrict restriction prohibit prohibition forbid forbidden ban bar preclude
    limit limitation cap ceiling
    task mission duty
    objective goal aim purpose
    intent intention
    effect impact consequence
    success criterion criteria measure metric
    condition precondition prerequisite
    decide decision determine determination
    order direct directive instruct instruction
    plan planning
    request ask petition
    inform tell told notify notification advise
    share pass exchange
    coordinate coordination liaise liaison deconflict
    government authority governmental authorities govt
    mandate resolution legal
    legitimate legitimacy
    agreement accord treaty pact mou
    deploy deployment
    transport move movement transit haul
    withdraw withdrawal withdrew retreat retire
    transfer handover hand
    deliver delivery distribute distribution
    open reopen
    close closure shut block blocked
    repair restore fix mend
    damage ruin
    destroy destruction
    flood inundation inundate
    rain rainfall precipitation
    weather meteorological forecast
    disease outbreak epidemic
    child children minor
    militia armed paramilitary
    proxy surrogate
    leader leadership head chief
    support back assist sponsor
    control hold held seize occupy
    escalate escalation
    deter deterrence
    weapon arms armament
    ammunition ammo munition
    missile rocket
    artillery gun howitzer
    mine minefield uxo
    insurgent rebel guerrilla
    terrorist terrorism
    information info data
    unverified unconfirmed uncorroborated
    confirm verify corroborate confirmation verification validate
    conflict contradict discrepancy differ inconsistent reconcile mismatch
    source origin
    accept endorse agree
    reject refuse decline
    cost expense expenditure
    money fund funding budget grant
    number figure count total
    capacity throughput capability load rating
    daily day
    weekly week
    increase rise grow surge
    decrease reduce fall drop decline cut
    allow let enable
    prevent avert avoid
    ensure guarantee assure
    delegate delegation
    manager director
    official officer
    operator run
    team staff crew
    media press journalist
    propaganda disinformation misinformation
    cyber network
    doctor physician
    farmer farm
    location place site position
    quickly rapid rapidly fast swift
    small minor
    large big major
    whole entire full
    near close adjacent
    main primary principal key
    alternative alternate secondary
    single sole only
    replace substitute
    contain include comprise
    remain stay
    rely dependence dependency depend reliance hinge
    unaware unknowing ignorant
    ineffective useless
    active activate
    house accommodate lodge
    inspect inspection check
    fail failure
    hire contract contractor charter
    sick ill illness
    crisis emergency disaster
    stockpile stock inventory holding
    window period timeframe
    deadline nlt
    trigger tripwire
    sequence order priority prioritise prioritize
    impartial neutral neutrality evenhanded
    rumour rumor story gossip
    unload discharge offload
    berth quay pier
    vulnerability weakness vulnerable
    incident event
    return repatriate repatriation
    uncertain unclear ambiguous
"""
"""One meaning per line; the first word replaces the others."""
