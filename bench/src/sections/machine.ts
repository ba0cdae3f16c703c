import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { DefinitionShape, StepShape } from '@belay/workflow/adapter'
// No package exports it: it is measured before anything uses it.
import {
  advance,
  changes,
  commit,
  load,
  type MachineEvent,
  type Row,
  type Run,
  type RunRow,
  type Spec,
  start,
} from '../../../packages/workflow/dist/machine/index.js'
import { specOfShape } from '../../../packages/workflow/dist/machine/spec-of-shape.js'
import { eachRound, type Recorder, type Section } from './section.ts'

const ITEMS = 65_536
const CHAIN = 10_000

export const machineSection: Section = {
  name: 'machine',
  about: 'the rules of a run alone, without a store: time of an event, and memory of a unit',
  async measure(bench, record) {
    const size = bench.quick ? 16 : 1
    await eachRound(bench, async (round) => {
      measureChains(record, size)
      measureMap(record, ITEMS / size)
      measureUndo(record, ITEMS / size)
      measureHeap(record, ITEMS / size)
      bench.progress(`round ${round}: machine`)
    })
  },
}

function measureChains(record: Recorder, size: number): void {
  const short = specOfShape(chainOf(3))
  const runs = 50_000 / size
  timed(record, 'an event of a chain of 3, with its start', runs * 4, () => {
    for (let i = 0; i < runs; i++) new Play(short).drain()
  })
  const long = new Play(specOfShape(chainOf(CHAIN / size)))
  timed(record, `an event of a chain of ${shown(CHAIN / size)}`, CHAIN / size, () => long.drain())
}

function measureMap(record: Recorder, items: number): void {
  const of = `a map of ${shown(items)}`
  const play = new Play(mapOf(items))
  timed(record, `${of}: opening, an item`, items, () => play.open(items))
  timed(record, `${of}: loading, an item in flight`, items, () => play.load())
  timed(record, `${of}: takeover, an item in flight`, items, () => play.takeover())
  timed(record, `${of}: ends, each a commit`, items, () => play.drain())
}

function measureUndo(record: Recorder, items: number): void {
  const play = new Play(mapOf(items))
  play.open(items)
  for (const ask of play.take(items)) play.end(ask)
  timed(record, `a map of ${shown(items)}: undo, an item`, items, () => {
    for (const { unit, serial } of play.take()) play.fold({ type: 'failed', unit, serial, error: 'for good' })
    play.drain()
  })
  if (play.run.root.status !== 'undone') throw new Error(`The run is ${play.run.root.status}, not undone.`)
}

/** Of the machine alone, its rows being the store’s. */
function measureHeap(record: Recorder, items: number): void {
  const play = new Play(mapOf(items))
  play.open(items)
  const rows = play.stored()
  const before = heapBytes()
  const run = load(play.row, rows, play.spec, { begun: true })
  const bytes = (heapBytes() - before) / run.units.length
  record.add('memory of a unit in flight', { unit: 'bytes', value: bytes })
}

function timed(record: Recorder, name: string, count: number, work: () => void): void {
  collect()
  const startedAt = performance.now()
  work()
  record.add(name, { unit: 'ns', value: ((performance.now() - startedAt) * 1e6) / count })
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heapBytes(): number {
  collect()
  return process.memoryUsage().heapUsed
}

type Ask = { readonly unit: number; readonly serial: number }

/** A run whose handlers all end at once. Each event is a commit, which a map of rows takes. */
class Play {
  readonly spec: Spec
  readonly rows = new Map<number, Row>()
  run: Run
  row: RunRow
  #asks: Ask[] = []

  constructor(spec: Spec) {
    this.spec = spec
    const first = start('run', spec)
    this.run = first.run
    this.row = first.commit.run!
    for (const row of first.commit.rows) this.rows.set(row.no, row)
    this.fold({ type: 'begin' })
  }

  fold(...events: readonly MachineEvent[]): void {
    const out = changes()
    for (const event of events) advance(this.run, event, 1, out)
    const made = commit(this.run)
    this.row = made.run ?? this.row
    for (const no of made.drop) this.rows.delete(no)
    for (const row of made.rows) this.rows.set(row.no, row)
    for (const ask of out.dispatch.values()) this.#asks.push(ask)
  }

  /** What is asked, or the first of it. */
  take(count = this.#asks.length): readonly Ask[] {
    return this.#asks.splice(0, count)
  }

  end({ unit, serial }: Ask): void {
    this.fold({ type: 'done', unit, serial, output: null })
  }

  /** The map’s handler answers which items there are. */
  open(count: number): void {
    const items = Array.from({ length: count }, (_, i) => ({ key: String(i) }))
    for (const { unit, serial } of this.take()) this.fold({ type: 'done', unit, serial, items })
  }

  drain(): void {
    while (this.#asks.length > 0) for (const ask of this.take()) this.end(ask)
  }

  stored(): readonly Row[] {
    return [...this.rows.values()]
  }

  load(): void {
    this.run = load(this.row, this.stored(), this.spec, { begun: true })
  }

  takeover(): void {
    this.#asks = []
    this.fold({ type: 'takeover' })
  }
}

const stepOf = (name: string, dependsOn: readonly number[]): StepShape => ({
  name,
  dependsOn,
  compensate: 'completed',
})

function chainOf(count: number): DefinitionShape {
  return { steps: Array.from({ length: count }, (_, i) => stepOf(`s${i}`, i === 0 ? [] : [i - 1])) }
}

/** All items at once, and a step after them. */
function mapOf(items: number): Spec {
  const opener: StepShape = { ...stepOf('items[]', []), kind: 'map' }
  const join: StepShape = { ...stepOf('items', [0]), kind: 'join' }
  const { steps, ...graph } = specOfShape({ steps: [opener, join, stepOf('last', [1])] })
  const all = steps.map((step) => (step.name === 'items' ? { ...step, concurrency: items } : step))
  return { ...graph, steps: all, byName: new Map(all.map((step) => [step.name, step])) } as Spec
}

const shown = (count: number): string => count.toLocaleString('en-US')
