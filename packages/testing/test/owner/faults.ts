import assert from 'node:assert/strict'
import type { Claimed, Committed, Member, OwnedRun, StartedRun } from '@belay/workflow/store'
import type { Code } from '../../../workflow/src/owner/index.ts'
import type { Random } from '../../src/conformance/differential/random.ts'
import { randomDefinition } from '../machine/definitions.ts'
import type { Bench, TestWorker } from './bench.ts'
import type { Verb } from './link.ts'
import { Again, type Called, type Handlers, json, say } from './script.ts'

/** How often something happened, so that a proof can tell that it did. */
export interface Counts {
  runs: number
  calls: number
  undos: number
  crashes: number
  silences: number
  lost: number
  stops: number
  operated: number
  repeated: number
}

export const noCounts = (): Counts => ({
  ...{ runs: 0, calls: 0, undos: 0, crashes: 0, silences: 0, lost: 0, stops: 0, operated: 0, repeated: 0 },
})

const VERBS: readonly Verb[] = [
  'claim',
  'commit',
  'commit',
  'commit',
  'start',
  'renew',
  'mailOf',
  'load',
  'bump',
  'sweep',
  'register',
]

interface Performing {
  readonly call: Called
  readonly worker: TestWorker
}

/** Workers that crash, fall silent, stop and lose answers while they run random definitions, and what nobody may see of it. */
export class Faults {
  readonly #given: Bench
  readonly #random: Random
  readonly #counts: Counts
  readonly #codes: Code[] = []
  readonly #runs: string[] = []
  readonly #workers = new Map<string, TestWorker>()
  /** Workers that may have been declared dead since they began. */
  readonly #doubtful = new Set<string>()
  readonly #performing = new Map<string, Performing>()
  readonly #serials = new Set<string>()
  /** Units whose end is in the store: `run:unit`. */
  readonly #ended = new Set<string>()
  /** Who owns a run, or has owned it last. */
  readonly #owners = new Map<string, string>()
  /** Effects that handlers have had, and undone. */
  readonly #effects = new Map<string, number>()
  readonly #flaws: string[] = []
  #made = 0

  constructor(given: Bench, random: Random, counts: Counts) {
    this.#given = given
    this.#random = random
    this.#counts = counts
  }

  async play(steps: number): Promise<void> {
    for (let index = 0; index < 1 + this.#random.below(3); index += 1) {
      const { shape } = randomDefinition(this.#random)
      this.#codes.push(await this.#given.defineShape(`w${index}`, shape, this.#handlers()))
    }
    const operator = await this.#given.operator()
    operator.link.onDone = (verb, given, answer) => this.#done(operator.name, verb, given, answer)
    for (let index = 0; index < 2; index += 1) await this.#spawn()
    for (let step = 0; step < steps; step += 1) {
      await this.#act()
      await this.#given.pass(this.#random.pick([1, 20, 150, 700]))
    }
    await this.#settle()
  }

  #handlers(): Handlers {
    const answers: Handlers = new Proxy<Record<string, (call: Called) => unknown>>(
      {},
      {
        get: (_, name) => (call: Called) => this.#handle(String(name), call),
      },
    )
    return answers
  }

  #handle(name: string, call: Called): unknown {
    const { phase, ask } = call
    try {
      this.#called(call)
    } catch (error) {
      // Thrown here, it would be the handler’s.
      this.#flaws.push(String(error))
    }
    const kind = (ask.unit.spec.of as { readonly name: string }).name
    const items = () =>
      Array.from({ length: this.#random.below(5) }, (_, index) => ({ key: String(index), item: json(index) }))
    if (phase === 'decide') return this.#over(call, () => say({ yes: this.#random.chance(0.7) }))
    if (phase === 'until') return this.#over(call, () => say({ more: false }))
    if (phase === 'gather') return this.#over(call, () => say({ output: json([]) }))
    if (phase === 'timeout') return this.#over(call, () => say({ output: json('late') }))
    if (phase === 'open') {
      const due = kind === 'sleep' ? this.#given.now() + this.#random.pick([10, 500, 4_000]) : null
      return this.#over(call, () => say(kind === 'map' ? { items: items(), window: 2 } : { due }))
    }
    if (this.#random.chance(0.3)) return this.#over(call, () => this.#outcome(name, call))
    return new Promise<void>((resolve) =>
      this.#given.after(this.#random.pick([1, 30, 300, 1_500]), resolve),
    ).then(() => this.#over(call, () => this.#outcome(name, call)))
  }

  #outcome(name: string, call: Called): unknown {
    const { phase, effect, ask } = call
    if (this.#random.chance(0.15)) throw new Again(this.#random.pick([10, 400]))
    if (phase !== 'undo' && this.#random.chance(0.06)) throw new Error(`no ${name}`)
    this.#effects.set(effect, (this.#effects.get(effect) ?? 0) + 1)
    if (phase === 'undo') return undefined
    const isRound = (ask.unit.scope?.spec.of as { readonly name: string } | undefined)?.name === 'loop'
    if (isRound) return say({ output: json(1), more: this.#random.chance(0.4) })
    const { chooses } = ask.unit.spec as { readonly chooses?: true }
    return chooses === true ? say({ output: this.#random.pick(['x', 'y']) }) : json(1)
  }

  /** What a handler may rely on when it is called. */
  #called(call: Called): void {
    const { run, serial, phase, ask } = call
    const { unit } = ask
    const key = `${run}:${unit.no}`
    this.#counts.calls += 1
    if (phase === 'undo') this.#counts.undos += 1
    const asked = `${key}:${serial}`
    assert.equal(this.#serials.has(asked), false, `ask ${asked} is called twice`)
    this.#serials.add(asked)
    assert.equal(call.worker, this.#owners.get(run), `${key} begins on a worker that does not own it`)
    const other = this.#performing.get(key)
    if (other !== undefined) {
      this.#counts.repeated += 1
      assert.ok(
        this.#doubtful.has(other.worker.name),
        `${key} runs twice: on ${other.call.worker} and ${call.worker}`,
      )
    }
    this.#performing.set(key, { call, worker: this.#workers.get(call.worker)! })
    if (phase !== 'undo' && unit.scope?.scope === null) {
      const before = (unit.spec as { readonly after?: readonly string[] }).after ?? []
      for (const name of before) {
        const dependency = unit.scope.units!.find(({ key: own }) => own === name)!
        assert.ok(
          this.#ended.has(`${run}:${dependency.no}`),
          `${key} begins before the end of ${name} is stored`,
        )
      }
    }
  }

  #over<Result>(call: Called, act: () => Result): Result {
    const key = `${call.run}:${call.ask.unit.no}`
    if (this.#performing.get(key)?.call === call) this.#performing.delete(key)
    return act()
  }

  async #spawn(): Promise<void> {
    this.#made += 1
    const worker = await this.#given.worker(`w${this.#made}`, { slots: this.#random.pick([1, 2, 10]) })
    worker.link.onDone = (verb, given, answer) => this.#done(worker.name, verb, given, answer)
    this.#workers.set(worker.name, worker)
  }

  #done(worker: string, verb: Verb, given: readonly unknown[], answer: unknown): void {
    if (verb === 'commit' && (answer as Committed).result === 'committed')
      this.#stored(given[1] as readonly Member[])
    const runs =
      verb === 'claim'
        ? (answer as Claimed).runs
        : verb === 'take' || verb === 'load'
          ? (answer as readonly OwnedRun[])
          : []
    for (const { id } of runs) this.#owners.set(id, worker)
    if (verb === 'start')
      for (const { id, owned } of answer as readonly StartedRun[]) if (owned) this.#owners.set(id, worker)
  }

  /** Members that were committed, whether their worker hears of it or not. */
  #stored(members: readonly Member[]): void {
    const over = new Set(['completed', 'skipped', 'failed', 'cancelled', 'undone'])
    for (const { run, ends, births, updates } of members) {
      for (const { no } of ends) this.#ended.add(`${run}:${no}`)
      for (const { no, status } of [...births, ...updates])
        if (over.has(status)) this.#ended.add(`${run}:${no}`)
        else if (status === 'pending') this.#ended.delete(`${run}:${no}`)
    }
  }

  get #alive(): readonly TestWorker[] {
    return [...this.#workers.values()].filter(({ owner }) => !owner.isClosed)
  }

  async #act(): Promise<void> {
    const what = this.#random.weighted({
      start: 35,
      lose: 25,
      crash: 5,
      silence: 6,
      stop: 4,
      operate: 12,
      signal: 15,
    })
    const worker = this.#random.pick(this.#alive)
    switch (what) {
      case 'start': {
        const by = this.#random.chance(0.5) && worker.link.fault === null ? { by: worker } : {}
        const fresh = Array.from({ length: this.#random.pick([1, 3, 12]) }, () => ({}))
        const started = await this.#given.awaiting(
          this.#given.start(this.#random.pick(this.#codes), fresh, by),
        )
        this.#runs.push(...started.map(({ id }) => id))
        this.#counts.runs += started.length
        return
      }
      case 'lose':
        if (worker.link.fault !== null) return
        this.#counts.lost += 1
        void worker.link.loseNext(this.#random.pick(VERBS), this.#random.pick(['before', 'after'] as const))
        return
      case 'crash':
        this.#counts.crashes += 1
        this.#doubtful.add(worker.name)
        worker.crash()
        return this.#spawn()
      case 'silence':
        return this.#silence(worker)
      case 'stop':
        this.#counts.stops += 1
        worker.link.fault = null
        // Handlers that do not end in its time count as lost.
        this.#doubtful.add(worker.name)
        await this.#given.stop(worker, 500)
        return this.#spawn()
      default:
        return this.#mail(what)
    }
  }

  async #silence(worker: TestWorker): Promise<void> {
    if (worker.link.fault !== null) return
    this.#counts.silences += 1
    this.#doubtful.add(worker.name)
    const silent = this.#given.silence(worker)
    if (this.#alive.length === 1) await this.#spawn()
    await this.#given.pass(this.#random.pick([200, 900, 3_000]))
    silent.end()
  }

  async #mail(what: 'operate' | 'signal'): Promise<void> {
    if (this.#runs.length === 0) return
    const run = this.#random.pick(this.#runs)
    const operator = await this.#given.operator()
    if (what === 'operate') {
      this.#counts.operated += 1
      const type = this.#random.pick(['cancel', 'pause', 'resume', 'resume', 'retry', 'retry'] as const)
      await this.#given.send(operator, run, type === 'cancel' ? { type, compensate: true } : { type })
    } else await this.#signalAll(operator, run)
  }

  async #signalAll(operator: TestWorker, run: string): Promise<void> {
    for (const [name, { status }] of await this.#given.rows(run))
      if (status === 'waiting' && /^[a-g]$/.test(name))
        await this.#given.send(
          operator,
          run,
          { type: 'mail', path: [name], mail: {} },
          { operates: false, payload: '1' },
        )
  }

  /** All that is wrong ends, and so do the runs. */
  async #settle(): Promise<void> {
    for (const { link } of this.#alive) link.fault = null
    const operator = await this.#given.operator()
    for (const run of this.#runs) await this.#given.send(operator, run, { type: 'resume' })
    for (let round = 0; round < 80; round += 1) {
      const open = await this.#open()
      if (open.length === 0) break
      for (const run of open) {
        await this.#signalAll(operator, run)
        if ((await this.#given.peek(run)).parked)
          for (const [name, { status }] of await this.#given.rows(run))
            if (status === 'parked' && /^[a-g]$/.test(name))
              await this.#given.send(operator, run, { type: 'retryStep', path: [name] })
      }
      await this.#given.pass(400)
    }
    for (const run of await this.#open())
      await this.#given.send(operator, run, { type: 'cancel', compensate: false })
    await this.#given.until(
      async () => (await this.#open()).length === 0,
      () => this.#open(),
    )
    await this.#judge()
  }

  async #open(): Promise<readonly string[]> {
    const found = await Promise.all(this.#runs.map((run) => this.#given.peek(run)))
    return found.filter(({ finishedAt }) => finishedAt === null).map(({ id }) => id)
  }

  /** An effect that its row says is there was had, and once more only if somebody may have been lost. */
  async #judge(): Promise<void> {
    assert.deepEqual(this.#flaws, [])
    for (const run of this.#runs) {
      for (const step of (await this.#given.peek(run)).steps!) {
        const isWork = step.state === null && step.status === 'completed'
        if (isWork)
          assert.ok(
            this.#effects.get(`${run}:${step.no}:${step.round}:do`) ?? 0,
            `${run}:${step.no} has no effect`,
          )
      }
    }
    for (const [effect, count] of this.#effects)
      if (count > 1)
        assert.ok(this.#doubtful.size > 0 || this.#counts.lost > 0, `${effect} was had ${count} times`)
  }
}
