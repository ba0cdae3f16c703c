import type { Answer } from '../../src/machine/answers.ts'
import type { Dispatch } from '../../src/machine/changes.ts'
import {
  advance,
  type Commit,
  changes,
  commit,
  dryRun,
  load,
  type MachineEvent,
  type Row,
  type Run,
  type RunRow,
  start,
} from '../../src/machine/index.ts'
import { child, childId } from '../../src/machine/kinds/child.ts'
import { packed, unpacked } from '../../src/store/pack.ts'
import { Children } from './children.ts'
import { Definitions, type KeptSpec, type ScriptedSpec, type TransactionalSpec } from './definitions.ts'
import { difference } from './difference.ts'
import { effectId, isEnded, Oracle } from './oracle.ts'
import type { Random } from './random.ts'

/** An ask that is with somebody. */
export interface Flight extends Dispatch {
  /** Its worker is gone; its answer comes late. */
  readonly isZombie?: true
  isRecorded?: boolean
  /** Under which its transaction commits its outcome. */
  within?: number | null
}

interface Body {
  readonly unit: number
  readonly serial: number
  readonly called: Set<string>
  readonly told: Map<string, string>
}

export interface Counts {
  events: number
  compares: number
  takeovers: number
  lostCommits: number
  undos: number
  retries: number
  refused: number
  moves: number
  drops: number
  dryRuns: number
}

/** The world around one run: handlers, children, timers, operators and crashes, all by chance. */
export class World {
  readonly random: Random
  readonly oracle: Oracle
  readonly counts: Counts
  readonly log: string[] = []
  readonly #isLogged = process.env['MACHINE_LOG'] !== undefined
  readonly bodies = new Map<number, Body>()
  readonly children = new Children(this)
  flights: Flight[] = []
  now = 0
  row!: RunRow
  /** As the store’s mark of a live run says. */
  #begun = false
  #run!: Run
  readonly #seen = new Set<string>()
  readonly #mood: number
  readonly #fail: (why: string) => never

  constructor(random: Random, counts: Counts, fail: (why: string, world: World) => never) {
    this.random = random
    this.counts = counts
    this.#fail = (why) => fail(why, this)
    this.oracle = new Oracle(new Definitions(random).root(), this.#fail)
    this.#mood = random.pick([0.02, 0.1, 0.3, 1])
    const first = start('x', this.oracle.def, {
      parent: random.chance(0.2) ? 'parent' : null,
      deadlineAt: random.chance(0.2) ? 20 + random.upto(200) : null,
    })
    this.#run = first.run
    this.#keep(first.commit, false)
    this.fold({ type: 'begin' })
  }

  fail(why: string): never {
    return this.#fail(why)
  }

  /** Applies events as one commit, which may be lost together with its owner. */
  fold(...events: readonly MachineEvent[]): void {
    const out = changes()
    for (const event of events) {
      this.counts.events += 1
      if (this.#isLogged) this.log.push(`${this.now} ${JSON.stringify(event)}`)
      const tried = this.random.chance(0.03) ? this.#tryOut(event) : undefined
      if (tried !== undefined && event === events[0]) this.compare()
      const told = advance(this.#run, event, this.now, out)
      if (tried !== undefined && tried !== (JSON.stringify(told) ?? 'nothing'))
        this.fail(`a dry run answers ${tried}`)
      if (told !== undefined && 'refused' in told) this.counts.refused += 1
    }
    const made = commit(this.#run)
    if (this.random.chance(0.004)) return this.#loseCommit(events)
    // A move that is refused leaves the definition as it was.
    this.oracle.def = this.#run.root.spec
    for (const no of made.drop)
      if (this.flights.some((each) => each.unit === no && each.isZombie !== true))
        this.fail(`${no} is dropped with a handler`)
    this.#keep(made, out.begun)
    for (const { unit, within } of out.tombstones) this.#bury(`${unit}:${within}`)
    for (const no of out.abort) this.#abort(no)
    for (const each of out.dispatch.values()) this.#dispatch(each)
    for (const { scope, serial, key, status } of out.tell) {
      const body = this.bodies.get(scope)
      if (body?.serial === serial) body.told.set(String(key), status)
    }
    for (const each of out.start) this.children.start(each)
    for (const mail of out.mail) this.children.hear(mail)
    this.flights = this.flights.filter(
      (each) =>
        each.isZombie === true || each.phase !== 'body' || this.bodies.get(each.unit)?.serial === each.serial,
    )
    this.compare()
  }

  /** The root stands in the run’s row, which says nothing of its beginning. */
  #keep(made: Commit, begins: boolean): void {
    if (made.run !== null) this.row = made.run
    if (begins) this.#begun = true
    const isImplied = this.#begun && this.row.root.status === 'pending'
    const root: Row[] = isImplied ? [{ ...this.row.root, status: 'open' }] : [this.row.root]
    if (this.#isLogged)
      for (const row of [...(made.run === null ? [] : root), ...made.rows])
        this.log.push(`      ${JSON.stringify(row)}`)
    this.oracle.take([...(made.run === null && !begins ? [] : root), ...made.rows], made.drop)
  }

  /** A question that a scope asks is not waited for, nor what a transaction has answered already. */
  #abort(no: number): void {
    this.bodies.delete(no)
    const row = this.oracle.rows.get(no)
    this.flights = this.flights.flatMap((each) => {
      const isAwaited = row?.flying === true && row.serial === each.serial
      if (each.unit !== no || each.isZombie === true || isAwaited) return [each]
      return each.phase === 'run' ? [{ ...each, isZombie: true as const }] : []
    })
  }

  /** The unique row that a transaction inserts: whoever is first has the outcome. */
  readonly outcomes = new Map<string, 'committed' | 'buried'>()

  #bury(key: string): void {
    if (this.outcomes.has(key)) this.fail(`the outcome of ${key} was committed, and it ended otherwise`)
    this.outcomes.set(key, 'buried')
  }

  /** What a dry run of an event answers. It changes nothing of the run. */
  #tryOut(event: MachineEvent): string {
    this.counts.dryRuns += 1
    const { answer } = dryRun(this.#run, event, this.now)
    return JSON.stringify(answer) ?? 'nothing'
  }

  /** What the world did in that fold is done; mail is in its table, and comes again. */
  #loseCommit(events: readonly MachineEvent[]): void {
    this.counts.lostCommits += 1
    for (const event of events) {
      if (event.type !== 'failed' && event.type !== 'done') continue
      // A late answer may be about a unit that was dropped.
      const row = this.oracle.rows.get(event.unit)
      if (row === undefined) continue
      const id = effectId(row)
      const isUndo = event.type === 'done' && this.#wasUndo(event.unit, event.serial)
      if (isUndo) this.oracle.undone.set(id, this.oracle.undone.get(id)! - 1)
      else this.oracle.succeeded.delete(id)
    }
    // What transactions committed comes before a doubt of their handlers.
    this.takeover(events.filter(({ type }) => type === 'within'))
    for (const event of events) if (event.type === 'mail') this.fold(event)
  }

  #undos = new Set<string>()

  #wasUndo(unit: number, serial: number): boolean {
    return this.#undos.has(`${unit}:${serial}`)
  }

  #dispatch(ask: Dispatch): void {
    const { unit, serial, phase } = ask
    const id = `${unit}:${serial}`
    if (this.row.paused) this.fail('an ask leaves in a pause')
    if (this.#seen.has(id)) this.fail(`serial ${id} again`)
    this.#seen.add(id)
    const row = this.oracle.rows.get(unit)
    if (row === undefined) this.fail(`${unit} has no row`)
    const flying = this.flights.filter(({ isZombie }) => isZombie !== true)
    if (phase === 'undo') this.oracle.judgeUndo(row, flying)
    else if (unit !== 0) this.oracle.judgeBegin(row)
    if (phase === 'body') this.bodies.set(unit, { unit, serial, called: new Set(), told: new Map() })
    this.flights.push({ ...ask })
  }

  /** Its owner dies, and another loads the run. Handlers may go on, and answer late. */
  takeover(committed: readonly MachineEvent[] = []): void {
    this.counts.takeovers += 1
    const { random, oracle } = this
    for (const { unit, phase, isZombie } of this.flights) {
      if (phase === 'run' && isZombie !== true) oracle.touched.add(effectId(oracle.rows.get(unit)!))
    }
    const asked = new Map(
      this.flights.flatMap(({ unit, isZombie }) =>
        isZombie === true ? [] : [[unit, oracle.rows.get(unit)!] as const],
      ),
    )
    this.#run = this.#load()
    this.flights = this.flights
      .filter(({ phase }) => phase !== 'body' && random.chance(0.4))
      .map((each) => ({ ...each, isZombie: true }))
    this.bodies.clear()
    this.fold({ type: 'begin' }, ...committed, { type: 'takeover' })
    for (const [no, old] of asked) this.#judgeLoss(old, oracle.rows.get(no))
  }

  #judgeLoss(old: Row, row: Row | undefined): void {
    const isAskedAgain = row?.flying && row.serial > old.serial && row.phase === (old.phase ?? row.phase)
    if (!isAskedAgain) return
    const direction = row.phase === 'undo' ? 'undo' : 'forward'
    const [was, is] = [old[direction], row[direction]!]
    const lost = is.losses - (was?.losses ?? 0)
    if (lost !== 1) this.fail(`${row.no} shows ${lost} losses more after a takeover`)
    const kills = is.kills - (was?.kills ?? 0)
    if (kills !== (old.flying && old.recorded ? 1 : 0))
      this.fail(
        `${row.no} has ${kills} kills more, and its row was ${old.recorded ? '' : 'not '}written before`,
      )
  }

  #load(): Run {
    const { oracle, row } = this
    // As a store keeps them.
    const rows = [...oracle.rows.values()].filter(({ no }) => no !== 0).map((each) => unpacked(packed(each)))
    return load(row, rows, oracle.def, { begun: this.#begun })
  }

  /** What a load makes of the rows is what memory has. */
  compare(): void {
    this.counts.compares += 1
    const found = difference(this.#load(), this.#run)
    if (found !== null) this.fail(found)
  }

  /** What a handler answers, if it ends now. */
  answer({ unit, serial, phase, isZombie }: Flight): MachineEvent {
    const { random, oracle } = this
    const row = oracle.rows.get(unit)
    const of = { unit, serial }
    const x = random.next()
    if (phase === 'undo') {
      if (x < 0.2) return { type: 'failed', ...of, error: 'undo', ...this.#retry(0.7) }
      // Of a child it only tells whether it is to be undone.
      if (row !== undefined && oracle.specOf(row).of === child)
        return { type: 'done', ...of, keep: (oracle.specOf(row) as KeptSpec).keeps === true }
      if (isZombie !== true) this.countUndo(row!, serial)
      return { type: 'done', ...of }
    }
    if (phase === 'run' && isZombie !== true) oracle.touched.add(effectId(row!))
    if (x < 0.02 * this.#mood && phase === 'run' && !this.transacts(unit)) {
      if (isZombie !== true) oracle.succeeded.add(effectId(row!))
      return { type: 'failed', ...of, error: 'output refused', succeeded: true }
    }
    if (x < 0.07 * this.#mood) return { type: 'failed', ...of, error: 'for good' }
    if (x < 0.17 * this.#mood) return { type: 'failed', ...of, error: 'tried again', ...this.#retry(0.8) }
    const output = this.#output(phase, row)
    // Also of a unit that was told to stop: its effect is there.
    if (phase === 'run' && output.due === undefined && isZombie !== true && !this.transacts(unit))
      oracle.succeeded.add(effectId(row!))
    return { type: 'done', ...of, ...output }
  }

  transacts(unit: number): boolean {
    const row = this.oracle.rows.get(unit)
    return row !== undefined && (this.oracle.specOf(row) as TransactionalSpec).transacts === true
  }

  /** What becomes of an answer whose handler commits it in its own transaction; null: that is rolled back, since the round has its outcome. */
  committed(flight: Flight, answer: MachineEvent): MachineEvent | null {
    if (answer.type !== 'done' || answer.due !== undefined) return answer
    const { unit, within } = flight
    // Its row never said so, and it never began.
    if (within == null) return null
    const key = `${unit}:${within}`
    if (this.outcomes.has(key)) return null
    this.outcomes.set(key, 'committed')
    this.oracle.succeeded.add(effectId(this.oracle.rows.get(unit)!))
    this.oracle.touched.add(effectId(this.oracle.rows.get(unit)!))
    const { serial: _, ...more } = answer
    return { ...more, type: 'within', within }
  }

  /** What a transaction committed is the outcome of its unit. */
  judgeCommitted(unit: number): void {
    const row = this.oracle.rows.get(unit)
    if ((row?.of ?? row?.status) !== 'completed')
      this.fail(`${unit} has committed its outcome, and is ${row?.status}`)
  }

  #retry(share: number): { readonly retryAt?: number } {
    return this.random.chance(share) ? { retryAt: this.now + 1 + this.random.upto(20) } : {}
  }

  countUndo(row: Row, serial: number): void {
    this.counts.undos += 1
    this.#undos.add(`${row.no}:${serial}`)
    const id = effectId(row)
    this.oracle.undone.set(id, (this.oracle.undone.get(id) ?? 0) + 1)
  }

  #output(phase: string, row: Row | undefined): Answer {
    const { random } = this
    if (phase === 'decide') return { yes: random.chance(0.75) }
    const spec = row === undefined ? undefined : this.oracle.specOf(row)
    if (phase === 'open') {
      const isTimed = spec?.of.name === 'sleep' || (spec?.of.name === 'signal' && random.chance(0.3))
      const items = Array.from({ length: random.upto(5) }, (_, n) => ({ key: `k${n}` }))
      const window = random.chance(0.6) ? { window: 1 + random.upto(3) } : {}
      return { items, ...window, ...(isTimed ? { due: this.now + 1 + random.upto(30) } : {}) }
    }
    if (phase === 'run' && random.chance(0.05)) return { due: this.now + 7 }
    const isChoice = spec !== undefined && 'chooses' in spec
    const round = { more: random.chance(0.4), ...(random.chance(0.3) ? { nextAt: this.now + 4 } : {}) }
    return { output: isChoice ? random.pick(['a', 'b']) : 'output', ...round }
  }

  /** One step of one function’s body. Whether there was one. */
  stepBody(divergence = 0.01): boolean {
    for (const body of this.bodies.values()) {
      const { unit, serial, called, told } = body
      const { script, steps } = this.oracle.specOf(this.oracle.rows.get(unit)!) as ScriptedSpec
      const of = { unit, serial }
      const ends = (event: MachineEvent) => {
        this.bodies.delete(unit)
        this.flights = this.flights.filter((each) => each.phase !== 'body' || each.unit !== unit)
        this.fold(event)
        return true
      }
      if (this.random.chance(divergence)) return ends({ type: 'done', ...of, calls: 99 })
      const thrown = script.find(
        ({ throws, key }) => throws && !['completed', 'skipped', undefined].includes(told.get(key)),
      )
      if (thrown !== undefined) return ends({ type: 'failed', ...of, error: 'thrown' })
      const next = script.find(
        ({ key, after }) => !called.has(key) && after.every((place) => told.has(script[place]!.key)),
      )
      if (next !== undefined) {
        called.add(next.key)
        this.fold({ type: 'call', ...of, key: next.key, kind: steps[next.name]!.of.name })
        return true
      }
      if (called.size === script.length && this.random.chance(0.7)) {
        return ends({ type: 'done', ...of, calls: script.length, output: 'output' })
      }
    }
    return false
  }

  childIdOf(unit: number): string {
    return childId(this.#run, this.#run.units[unit]!)
  }

  dues(): readonly { readonly unit: number; readonly due: number }[] {
    return [...this.oracle.rows.values()].flatMap((row) => {
      const { due } = row.undo ?? row.forward
      return due === null || isEnded(row) ? [] : [{ unit: row.no, due }]
    })
  }
}
