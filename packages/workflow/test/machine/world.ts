import {
  advance,
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
import { childKey } from '../../src/machine/kinds/child.ts'
import type { Answer, Dispatch, MailOut } from '../../src/machine/state.ts'
import { Definitions, type ScriptedSpec } from './definitions.ts'
import { effectId, isEnded, Oracle } from './oracle.ts'
import { plain } from './plain.ts'
import type { Random } from './random.ts'

/** An ask that is with somebody. */
interface Flight extends Dispatch {
  /** Its worker is gone; its answer comes late. */
  readonly isZombie?: true
  isRecorded?: boolean
}

interface Body {
  readonly unit: number
  readonly serial: number
  readonly called: Set<string>
  readonly told: Map<string, string>
}

type ChildState = 'on' | 'cancelling' | 'undoing' | 'done' | 'failed' | 'undone' | 'forgotten' | 'detached'

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
  readonly kids = new Map<string, { readonly unit: number; state: ChildState }>()
  flights: Flight[] = []
  now = 0
  row!: RunRow
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
    const first = start('x', this.oracle.def, random.chance(0.2) ? 'parent' : null)
    this.#run = first.run
    this.row = first.commit.run
    this.oracle.take(first.commit.rows, [])
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
      const told = advance(this.#run, event, this.now, out)
      if (tried !== undefined && tried !== (JSON.stringify(told) ?? 'nothing'))
        this.fail(`a dry run answers ${tried}`)
      if (told !== undefined && 'refused' in told) this.counts.refused += 1
    }
    const made = commit(this.#run)
    if (this.random.chance(0.004)) return this.#loseCommit(events)
    // A move that is refused leaves the definition as it was.
    this.oracle.def = this.#run.root.spec
    this.row = made.run
    for (const no of made.drop)
      if (this.flights.some((each) => each.unit === no && each.isZombie !== true))
        this.fail(`${no} is dropped with a handler`)
    if (this.#isLogged) for (const row of made.rows) this.log.push(`      ${JSON.stringify(row)}`)
    this.oracle.take(made.rows, made.drop)
    for (const no of out.abort)
      if (this.bodies.delete(no))
        this.flights = this.flights.filter((each) => each.unit !== no || each.isZombie === true)
    for (const each of out.dispatch.values()) this.#dispatch(each)
    for (const { scope, serial, key, status } of out.tell) {
      const body = this.bodies.get(scope)
      if (body?.serial === serial) body.told.set(String(key), status)
    }
    for (const each of out.start) this.#startChild(each)
    for (const mail of out.mail) this.#send(mail)
    this.flights = this.flights.filter(
      (each) =>
        each.isZombie === true || each.phase !== 'body' || this.bodies.get(each.unit)?.serial === each.serial,
    )
    this.compare()
  }

  /** What a dry run of an event answers. It changes nothing of the run. */
  #tryOut(event: MachineEvent): string {
    this.counts.dryRuns += 1
    const before = JSON.stringify(plain(this.#run))
    const { answer } = dryRun(this.#run, event, this.now)
    if (JSON.stringify(plain(this.#run)) !== before) this.fail('a dry run changes the run')
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
      if (event.type === 'failed') this.oracle.succeeded.delete(id)
      else if (this.#wasUndo(event.unit, event.serial))
        this.oracle.undone.set(id, this.oracle.undone.get(id)! - 1)
    }
    this.takeover()
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

  #startChild({ id, unit }: { readonly id: string; readonly unit: number }): void {
    if (this.kids.has(id)) this.fail(`child ${id} twice`)
    const spec = this.oracle.specOf(this.oracle.rows.get(unit)!) as { readonly detached?: true }
    this.kids.set(id, { unit, state: spec.detached === true ? 'detached' : 'on' })
  }

  #send({ to, type }: MailOut): void {
    if (type === 'reply') return
    const kid = this.kids.get(to) ?? this.fail('mail to no child')
    if (type === 'cancel' && kid.state === 'on') kid.state = 'cancelling'
    if (type !== 'undo') return
    if (kid.state === 'on' || kid.state === 'cancelling') this.fail('undo of a child that goes on')
    kid.state = 'undoing'
    this.oracle.judgeUndo({ ...this.oracle.rows.get(kid.unit)!, status: 'undoing' }, [])
  }

  /** Its owner dies, and another loads the run. Handlers may go on, and answer late. */
  takeover(): void {
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
    this.#run = load(this.row, this.#stored(), oracle.def)
    this.flights = this.flights
      .filter(({ phase }) => phase !== 'body' && random.chance(0.4))
      .map((each) => ({ ...each, isZombie: true }))
    this.bodies.clear()
    this.fold({ type: 'begin' }, { type: 'takeover' })
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

  #stored(): readonly Row[] {
    return [...this.oracle.rows.values()]
  }

  /** What a load makes of the rows is what memory has. */
  compare(): void {
    this.counts.compares += 1
    const [stored, known] = [plain(load(this.row, this.#stored(), this.oracle.def)), plain(this.#run)]
    if (JSON.stringify(stored) === JSON.stringify(known)) return
    for (const name of ['paused', 'born', 'parked'] as const) {
      if (stored[name] !== known[name])
        this.fail(`run.${name}: rows say ${stored[name]}, memory ${known[name]}`)
    }
    for (const [index, unit] of stored.units.entries()) {
      const other = known.units[index]
      for (const name of Object.keys(unit) as (keyof typeof unit)[]) {
        const [says, has] = [JSON.stringify(unit[name]), JSON.stringify(other?.[name])]
        if (says !== has) this.fail(`unit ${unit.no}.${name}: rows say ${says}, memory ${has}`)
      }
    }
    this.fail('another number of units')
  }

  /** What a handler answers, if it ends now. */
  answer({ unit, serial, phase, isZombie }: Flight): MachineEvent {
    const { random, oracle } = this
    const row = oracle.rows.get(unit)
    const of = { unit, serial }
    const x = random.next()
    if (phase === 'undo') {
      if (x < 0.2) return { type: 'failed', ...of, error: 'undo', ...this.#retry(0.7) }
      if (isZombie !== true) this.#countUndo(row!, serial)
      return { type: 'done', ...of }
    }
    if (phase === 'run' && isZombie !== true) oracle.touched.add(effectId(row!))
    if (x < 0.02 * this.#mood && phase === 'run') {
      if (isZombie !== true) oracle.succeeded.add(effectId(row!))
      return { type: 'failed', ...of, error: 'output refused', succeeded: true }
    }
    if (x < 0.07 * this.#mood) return { type: 'failed', ...of, error: 'for good' }
    if (x < 0.17 * this.#mood) return { type: 'failed', ...of, error: 'tried again', ...this.#retry(0.8) }
    return { type: 'done', ...of, ...this.#output(phase, row) }
  }

  #retry(share: number): { readonly retryAt?: number } {
    return this.random.chance(share) ? { retryAt: this.now + 1 + this.random.upto(20) } : {}
  }

  #countUndo(row: Row, serial: number): void {
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
      return { items: random.upto(5), ...(isTimed ? { due: this.now + 1 + random.upto(30) } : {}) }
    }
    if (phase === 'run' && random.chance(0.05)) return { due: this.now + 7 }
    const isChoice = spec !== undefined && 'chooses' in spec
    const round = { more: random.chance(0.4), ...(random.chance(0.3) ? { delayMs: 4 } : {}) }
    return { output: isChoice ? random.pick(['a', 'b']) : round }
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
        return ends({ type: 'done', ...of, calls: script.length, output: { more: this.random.chance(0.4) } })
      }
    }
    return false
  }

  /** One child ends, or is undone. Whether there was one. */
  stepChild(): boolean {
    const { random } = this
    for (const [child, kid] of this.kids) {
      const row = this.oracle.rows.get(kid.unit)
      if (row === undefined || childKey(this.#run, this.#run.units[kid.unit]!) !== child) continue
      const mail = (fields: object) => {
        this.fold({ type: 'mail', unit: kid.unit, mail: { child, ...fields } })
        return true
      }
      if (kid.state === 'on' && random.chance(0.5)) {
        kid.state = random.chance(0.75) ? 'done' : 'failed'
        return mail({
          ended: kid.state === 'done' ? 'completed' : 'compensated',
          output: { more: random.chance(0.4) },
        })
      }
      if (kid.state === 'cancelling') {
        kid.state = random.chance(0.3) ? 'done' : 'failed'
        return mail({ ended: kid.state === 'done' ? 'completed' : 'cancelled' })
      }
      if (kid.state === 'undoing') {
        kid.state = random.chance(0.1) ? 'done' : 'undone'
        if (kid.state === 'undone') this.#countUndo(row, -1)
        return mail(kid.state === 'done' ? { refused: true } : { undone: true })
      }
    }
    return false
  }

  dues(): readonly { readonly unit: number; readonly due: number }[] {
    return [...this.oracle.rows.values()].flatMap((row) => {
      const { due } = row.undo ?? row.forward
      return due === null || isEnded(row) ? [] : [{ unit: row.no, due }]
    })
  }

  isChildUnderWay(): boolean {
    return [...this.kids.values()].some(
      ({ unit, state }) => this.oracle.rows.has(unit) && ['on', 'cancelling', 'undoing'].includes(state),
    )
  }
}
