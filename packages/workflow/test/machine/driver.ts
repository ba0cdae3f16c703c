import type { Answer, MailIn, NewItem } from '../../src/machine/answers.ts'
import type { Dispatch, MailOut } from '../../src/machine/changes.ts'
import type { Answered } from '../../src/machine/index.ts'
import {
  advance,
  type Commit,
  changes,
  commit,
  load,
  type MachineEvent,
  type Row,
  type Run,
  type RunRow,
  start,
} from '../../src/machine/index.ts'
import type { Line } from '../../src/machine/records.ts'
import type { Changes, Spec } from '../../src/machine/state.ts'
import { packed, unpacked } from '../../src/store/pack.ts'
import { difference } from './difference.ts'

/** So many items of a map. */
export const items = (count: number): readonly NewItem[] =>
  Array.from({ length: count }, (_, n) => ({ key: `k${n}` }))

/** A run that a test moves by hand: each call is one event and one commit, and what was asked is there to be answered. Units are named by their keys. */
export class Driver {
  now = 1_000
  row!: RunRow
  readonly rows = new Map<number, Row>()
  spec: Spec
  readonly mail: MailOut[] = []
  readonly aborted: string[] = []
  readonly tombstones: Changes['tombstones'][number][] = []
  asked: Dispatch[] = []
  #run: Run
  #begun = false

  constructor(spec: Spec, started: Parameters<typeof start>[2] = {}) {
    this.spec = spec
    const { run, commit: made } = start('run', spec, started)
    this.#run = run
    this.#keep(made)
    this.fold({ type: 'begin' })
  }

  /** What the first event is answered. */
  fold(...events: readonly MachineEvent[]): Answered {
    const out = changes()
    const [answer] = events.map((event) => advance(this.#run, event, this.now, out))
    this.#keep(commit(this.#run))
    this.spec = this.#run.root.spec
    if (out.begun) this.#begun = true
    // Of large runs it would be most of the time.
    const differs = this.rows.size > 100 ? null : difference(this.load(), this.#run)
    if (differs !== null) throw new Error(`After ${events[0]!.type}: ${differs}`)
    this.asked = [...this.asked, ...out.dispatch.values()]
    this.mail.push(...out.mail)
    this.tombstones.push(...out.tombstones)
    this.aborted.push(...out.abort.map((no) => this.nameOf(no)))
    return answer
  }

  /** Its owner is gone: another one loads the rows, and doubts what may be with somebody. Late answers name old serials. */
  takeover(): void {
    this.reload()
    this.asked = []
    this.fold({ type: 'begin' })
    this.fold({ type: 'takeover' })
  }

  reload(): void {
    this.#run = this.load()
  }

  load(): Run {
    // As a store keeps them.
    const rows = [...this.rows.values()].filter(({ no }) => no !== 0).map((row) => unpacked(packed(row)))
    return load(this.row, rows, this.spec, { begun: this.#begun })
  }

  #keep(made: Commit): void {
    if (made.run !== null) {
      this.row = made.run
      this.rows.set(0, made.run.root)
    }
    for (const no of made.drop) this.rows.delete(no)
    for (const row of made.rows) this.rows.set(row.no, row)
  }

  /** The root, or the unit at a path of keys: `at('fetch', 1)`. */
  at(...path: readonly (string | number)[]): Row {
    let row = this.rows.get(0)!
    for (const key of path)
      row = [...this.rows.values()].find((each) => each.scope === row.no && each.key === key)!
    return row
  }

  nameOf(no: number): string {
    return String(this.rows.get(no)!.key)
  }

  /** What is asked now, in order: `a.run`. */
  get open(): readonly string[] {
    return this.asked.map(({ unit, phase }) => `${this.nameOf(unit)}.${phase}`)
  }

  /** The statuses of the steps of the root’s graph. */
  get statuses(): Readonly<Record<string, string>> {
    const steps = [...this.rows.values()].filter(({ scope }) => scope === 0)
    return Object.fromEntries(steps.map(({ key, status }) => [key, status]))
  }

  #take(name: string): Dispatch {
    const ask = this.asked.find(({ unit }) => this.nameOf(unit) === name)
    if (ask === undefined) throw new Error(`Nothing is asked of ${name}. Asked: ${this.open.join(', ')}.`)
    this.asked = this.asked.filter((each) => each !== ask)
    return ask
  }

  done(name: string, answer: Answer = {}): void {
    const { unit, serial } = this.#take(name)
    this.fold({ type: 'done', unit, serial, ...answer })
  }

  fails(name: string, more: { readonly retryAt?: number; readonly succeeded?: true } = {}): void {
    const { unit, serial } = this.#take(name)
    this.fold({ type: 'failed', unit, serial, error: 'failed', ...more })
  }

  loses(name: string): void {
    const { unit, serial } = this.#take(name)
    this.fold({ type: 'lost', unit, serial })
  }

  lines(name: string, line: Line, more: { readonly skips?: true } = {}): void {
    const { unit, serial } = this.#take(name)
    this.fold({ type: 'lined', unit, serial, line, ...more })
  }

  unbegun(name: string): void {
    const { unit, serial } = this.#take(name)
    this.fold({ type: 'released', unit, serial, called: false })
  }

  tell(path: readonly (string | number)[], mail: MailIn): Answered {
    return this.fold({ type: 'mail', unit: this.at(...path).no, mail })
  }

  operate(
    type: 'retryStep' | 'retryUndo' | 'skipUndo' | 'skipStep',
    ...path: readonly (string | number)[]
  ): Answered {
    return this.fold({ type, unit: this.at(...path).no })
  }
}
