import type { MachineEvent, Row } from '../../src/machine/index.ts'
import { nextVersion } from './moves.ts'
import { effectId, isEnded } from './oracle.ts'
import { Random } from './random.ts'
import { type Counts, type Flight, World } from './world.ts'

const STEPS_MAX = 10_000
const KILLS_MAX = 3

export const noCounts = (): Counts => ({
  events: 0,
  compares: 0,
  takeovers: 0,
  lostCommits: 0,
  undos: 0,
  retries: 0,
  refused: 0,
  moves: 0,
  drops: 0,
  dryRuns: 0,
})

/** Plays one random run to its end. Throws an error that names the seed and the rule that was broken. */
export function play(seed: number, counts: Counts, { isHard = false } = {}): void {
  const world = new World(new Random(seed), counts, (why, { log }) => {
    const last =
      process.env['MACHINE_LOG'] === undefined
        ? ''
        : `\n${log.slice(-Number(process.env['MACHINE_LOG']) || -60).join('\n')}`
    throw new Error(`seed ${seed}: ${why}${last}`)
  })
  const retriesMax = isHard ? 6 : 2
  let retries = 0
  for (let step = 0; ; step++) {
    if (step > STEPS_MAX) world.fail('it does not end')
    world.now += 1
    const root = world.oracle.rows.get(0)!
    if (!isEnded(root)) {
      act(world, isHard)
      continue
    }
    judgeEnd(world)
    if (root.status === 'completed') {
      if (world.row.parent === null || world.random.chance(0.5)) return
      world.fold({ type: 'undoRun' })
      if (isEnded(world.oracle.rows.get(0)!)) return
    } else {
      if (world.row.parent !== null || retries === retriesMax || !world.random.chance(isHard ? 0.95 : 0.3))
        return
      retries += 1
      counts.retries += 1
      continueEnded(world)
    }
  }
}

/** An operator sends a run that has ended forward again. */
function continueEnded(world: World): void {
  const { random, oracle } = world
  const unit = random.pick([...oracle.rows.values()]).no
  const x = random.next()
  if (x < 0.15) move(world)
  if (x < 0.35 && unit !== 0) world.fold({ type: 'retryStep', unit })
  else if (x < 0.6 && unit !== 0) world.fold({ type: 'skipStep', unit, output: random.pick(['a', 'b']) })
  const root = oracle.rows.get(0)!
  if (isEnded(root) && root.status !== 'completed') world.fold({ type: 'retry' })
}

function move(world: World): void {
  const { random, oracle, counts } = world
  const spec = nextVersion(random, oracle.def, `m${counts.events}`)
  if (spec === undefined) return
  world.fold({ type: 'migrate', spec, name: 'random', version: counts.events })
  if (oracle.def === spec) counts.moves += 1
}

/** Its undos count as skipped, and nobody hears of its children any more. */
function drop(world: World): void {
  const { oracle, flights, counts } = world
  if (flights.some(({ isZombie }) => isZombie !== true)) return world.fold({ type: 'drop' })
  for (const row of oracle.rows.values())
    if (row.status === 'undoing' || row.status === 'stuck') oracle.skipped.add(effectId(row))
  world.fold({ type: 'drop' })
  if (!isEnded(oracle.rows.get(0)!)) return
  counts.drops += 1
}

function judgeEnd(world: World): void {
  for (const { unit, phase, isZombie } of world.flights)
    if (isZombie !== true) world.fail(`${unit} ${phase} is under way after the end`)
  world.oracle.judgeEnd()
  world.children.judgeEnd()
}

/** Something happens. */
function act(world: World, isHard: boolean): void {
  const { random, oracle, row } = world
  const x = random.next()
  const some = () => random.pick([...oracle.rows.values()])
  if (x < 0.02) return world.takeover()
  if (x < 0.025) return world.fold({ type: 'cancel', compensate: random.chance(0.8) })
  if (x < 0.027) return world.fold({ type: 'deadline' })
  if (x < 0.0275) return drop(world)
  if (x < 0.032) return move(world)
  if (x < 0.033) return world.fold({ type: 'setPriority', priority: random.upto(3) })
  if (x < 0.034) return world.fold({ type: 'retry' })
  if (x < 0.05) return world.fold({ type: row.paused ? 'resume' : 'pause' })
  if (x < 0.11) return sendMail(world, some())
  if (x < 0.115) return permit(world, some())
  if (x < 0.14) return repairStep(world, some())
  if (x < 0.155) return giveUp(world, some())
  if (x < 0.17) return repairUndo(world, some())
  if (x < 0.19) return lose(world)
  if (x < 0.35 && world.stepBody(isHard ? 0.05 : 0.01)) return
  const asked = world.flights.filter(({ phase }) => phase !== 'body')
  if (asked.length > 0 && random.chance(0.75)) return end(world)
  if (world.stepBody() || world.children.step()) return
  const dues = world.dues()
  if (dues.length > 0 && !row.paused) {
    world.now = Math.max(world.now, Math.min(...dues.map(({ due }) => due)))
    return world.fold(
      ...dues.filter(({ due }) => due <= world.now).map(({ unit }) => ({ type: 'due', unit }) as const),
    )
  }
  if (row.paused) return world.fold({ type: 'resume' })
  if (!asked.some(({ isZombie }) => isZombie !== true) && !world.children.areUnderWay) helpOut(world)
}

/** One to three handlers end in one commit. */
function end(world: World): void {
  const { random } = world
  const events: MachineEvent[] = []
  for (let left = random.chance(0.3) ? 3 : 1; left > 0; left--) {
    const asked = world.flights.filter(({ phase }) => phase !== 'body')
    if (asked.length === 0) break
    const flight = random.pick(asked)
    const transacts = flight.phase === 'run' && world.transacts(flight.unit)
    const mustBeRecorded = (flight.suspect || transacts) && flight.isRecorded !== true
    const isAlone = transacts || (mustBeRecorded && flight.isZombie !== true)
    // A commit of its own comes first: an answer that is not folded yet could be doubted meanwhile.
    if (isAlone && events.length > 0) break
    if (isAlone && mustBeRecorded && flight.isZombie !== true) return begin(world, flight, transacts)
    world.flights = world.flights.filter((each) => each !== flight)
    const answer = world.answer(flight)
    const event = transacts ? world.committed(flight, answer) : answer
    if (event !== null) events.push(event)
    if (isAlone) break
  }
  if (events.length > 0) world.fold(...events)
  for (const event of events) if (event.type === 'within') world.judgeCommitted(event.unit)
}

/** Its row is written before it is called, unless it is poison. */
function begin(world: World, flight: Flight, transacts: boolean): void {
  const { unit, serial } = flight
  if (kills(world, flight) >= KILLS_MAX) {
    world.flights = world.flights.filter((each) => each !== flight)
    return world.fold({ type: 'failed', unit, serial, error: 'poison' })
  }
  flight.isRecorded = true
  world.fold({ type: 'record', unit, serial, before: true, ...(transacts ? { within: true } : {}) })
  if (transacts) flight.within = world.oracle.rows.get(unit)?.within ?? null
}

function kills(
  { oracle }: World,
  { unit, phase }: { readonly unit: number; readonly phase: string },
): number {
  const row = oracle.rows.get(unit)!
  return (phase === 'undo' ? row.undo : row.forward)?.kills ?? 0
}

/** A helper is lost, or an ask is given back before it was called. */
function lose(world: World): void {
  const { random, oracle } = world
  const asked = world.flights.filter(({ phase, isZombie }) => phase !== 'body' && isZombie !== true)
  if (asked.length === 0) return
  const flight = random.pick(asked)
  const { unit, serial } = flight
  world.flights = world.flights.filter((each) => each !== flight)
  if (random.chance(0.3) && flight.isRecorded !== true) {
    if (flight.phase !== 'run' || random.chance(0.5))
      return world.fold({ type: 'released', unit, serial, called: false })
    const line = { limit: 'l', key: '', place: 1 }
    return world.fold({ type: 'lined', unit, serial, line, ...(random.chance(0.2) ? { skips: true } : {}) })
  }
  if (flight.phase === 'run') oracle.touched.add(effectId(oracle.rows.get(unit)!))
  if (random.chance(0.4)) world.flights.push({ ...flight, isZombie: true })
  if (random.chance(0.3)) world.fold({ type: 'released', unit, serial, called: true })
  else world.fold({ type: 'lost', unit, serial, ...(random.chance(0.5) ? { killsMax: KILLS_MAX } : {}) })
}

function permit(world: World, { no, note }: Row): void {
  if (note?.line !== undefined) world.fold({ type: 'permit', unit: no })
}

function sendMail(world: World, { no }: Row): void {
  const { random, oracle } = world
  const kind = oracle.specOf(oracle.rows.get(no)!).of.name
  if (kind === 'mailbox')
    world.fold({ type: 'mail', unit: no, mail: { body: 'm', from: 'me', close: random.chance(0.3) } })
  else if (kind === 'signal')
    world.fold({
      type: 'mail',
      unit: no,
      mail: { body: 'b', key: random.pick(['k1', 'k2']), reject: random.chance(0.2) },
    })
}

function repairStep(world: World, { no, status }: Row): void {
  const { random } = world
  if (random.chance(0.5)) return world.fold({ type: 'retryStep', unit: no })
  world.fold({ type: 'skipStep', unit: no, output: random.pick(['a', 'b']) })
  const isSkipped = world.oracle.rows.get(no)?.status === 'skipped' && status !== 'skipped'
  if (isSkipped) world.children.forget(no)
}

function giveUp(world: World, { no, status }: Row): void {
  const flight = world.flights.find(({ unit, isZombie }) => unit === no && isZombie !== true)
  if (flight?.phase === 'body') return
  if (flight !== undefined && (flight.phase === 'undo' || status === 'stopping')) {
    world.flights = world.flights.filter((each) => each !== flight)
    if (flight.phase === 'run') world.oracle.touched.add(effectId(world.oracle.rows.get(no)!))
  }
  world.fold({ type: 'giveUp', unit: no, reason: 'its machine burned' })
}

function repairUndo(world: World, { no }: Row): void {
  const { random } = world
  if (random.chance(0.5)) return world.fold({ type: 'retryUndo', unit: no })
  world.fold({ type: 'skipUndo', unit: no })
}

/** Nothing is under way: somebody must be waited for by name. */
function helpOut(world: World): void {
  const { random, oracle } = world
  for (const row of oracle.rows.values()) {
    const kind = oracle.specOf(row).of.name
    if (row.status === 'stuck') return repairUndo(world, row)
    if (row.status === 'waiting' && row.note?.line !== undefined) return permit(world, row)
    if (row.status === 'parked') {
      return random.chance(0.15) ? world.fold({ type: 'cancel', compensate: false }) : repairStep(world, row)
    }
    if (row.status === 'waiting' && kind === 'signal') return sendMail(world, row)
    const isIdle = !oracle.unitsOf(row.no).some((each) => each.status !== 'pending' && !isEnded(each))
    if (row.status === 'open' && kind === 'mailbox' && isIdle) {
      return world.fold({
        type: 'mail',
        unit: row.no,
        mail: { body: 'm', from: 'me', close: random.chance(0.6) },
      })
    }
  }
  if (world.bodies.size === 0) world.fail('nobody is waited for')
}
