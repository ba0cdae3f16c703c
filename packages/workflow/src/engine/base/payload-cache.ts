import {
  type Adapter,
  type HeartbeatRequest,
  isItem,
  type JsonText,
  type PayloadRequest,
  type RunPayloads,
} from '../../adapter/index.ts'
import { sendApart } from './send-apart.ts'
import { settledText } from './settled-text.ts'

/** The size of each of the two generations, in characters of JSON text; about twice that in bytes. */
const CHARS_MAX = 8 * 1024 * 1024
/** Added for each run and each value, so that the number of tiny values is bounded too. */
const OVERHEAD_CHARS = 64

interface Entry {
  input: JsonText | undefined
  /** Why the run stopped; undefined if not known. */
  cause: JsonText | undefined
  /** By step number; undefined if not known. Of a step past whose failure the run continues, the text of a `Settled`. */
  readonly outputs: (JsonText | undefined)[]
  /** Branches of steps that may be skipped, by step number. Created on first use: most runs have none. */
  branches: Map<number, JsonText> | undefined
  chars: number
}

interface Pending {
  readonly request: PayloadRequest
  readonly resolve: (payloads: RunPayloads | undefined) => void
  readonly reject: (error: unknown) => void
}

/** The payloads of a forward attempt. `outputs` are in the requested order. */
export interface ForwardPayloads {
  readonly input: JsonText
  readonly outputs: readonly JsonText[]
  /** The branches of dependencies that may be skipped, by number; undefined if nobody asked for them. */
  readonly branches?: ReadonlyMap<number, JsonText> | undefined
}

/** Where attempts find payloads: what is known at once, and what must be read. */
export type PayloadSource = Pick<PayloadCache, 'known' | 'read' | 'load' | 'rememberCause' | 'knownCause'>

/**
 * Caches inputs, outputs and causes that this process has seen, so that a chain of steps in one worker never reads back its own writes. Stored
 * inputs never change. An output changes only if its step runs again, which the step's fence shows.
 *
 * Bounded by two generations: used entries move to the young one. When that is full, the old one is dropped and the young one becomes the old.
 * Evicting the oldest entry of a single Map would scan the slots of all entries deleted before.
 */
export class PayloadCache {
  readonly #adapter: Adapter
  #young = new Map<string, Entry>()
  #old = new Map<string, Entry>()
  #youngChars = 0
  #pending: Pending[] = []

  constructor(adapter: Adapter) {
    this.#adapter = adapter
  }

  rememberInput(runId: string, input: JsonText): void {
    const entry = this.#find(runId) ?? this.#create(runId)
    if (entry.input !== undefined) return
    entry.input = input
    this.#grow(runId, entry, input)
  }

  /** Not of items: a map may have thousands, and only its join reads them, once. */
  rememberOutput(runId: string, step: number, output: JsonText): void {
    if (isItem(step)) return
    const entry = this.#find(runId) ?? this.#create(runId)
    if (entry.outputs[step] !== undefined) return
    entry.outputs[step] = output
    this.#grow(runId, entry, output)
  }

  rememberBranch(runId: string, step: number, branch: JsonText): void {
    const entry = this.#find(runId)
    // If nothing else of the run is cached, everything must be read anyway.
    if (entry === undefined) return
    entry.branches ??= new Map()
    if (entry.branches.has(step)) return
    entry.branches.set(step, branch)
    this.#grow(runId, entry, branch)
  }

  /** Unlike inputs, causes change: a run that went forward again may stop for another reason. */
  rememberCause(runId: string, cause: JsonText): void {
    const entry = this.#find(runId)
    // If nothing else of the run is cached, everything must be read anyway.
    if (entry === undefined) return
    const isNew = entry.cause === undefined
    entry.cause = cause
    if (isNew) this.#grow(runId, entry, cause)
  }

  /** The cached cause of the run's stop; it may be stale. */
  knownCause(runId: string): JsonText | undefined {
    return this.#find(runId)?.cause
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#youngChars = 0
  }

  forget(runId: string): void {
    const entry = this.#young.get(runId)
    if (entry !== undefined) {
      this.#youngChars -= entry.chars
      this.#young.delete(runId)
    }
    this.#old.delete(runId)
  }

  /** The run's input and the outputs of these steps, if all are cached, and so are the branches of `branches`. */
  known(
    runId: string,
    steps: readonly number[],
    branches: readonly number[] = NONE,
  ): ForwardPayloads | undefined {
    const entry = this.#find(runId)
    if (entry?.input === undefined) return undefined
    for (const step of branches) if (entry.branches?.has(step) !== true) return undefined
    const outputs: JsonText[] = []
    for (const step of steps) {
      const output = entry.outputs[step]
      if (output === undefined) return undefined
      outputs.push(output)
    }
    return { input: entry.input, outputs, branches: entry.branches }
  }

  /** Reads the same from the store, with all branches if any are asked for. Undefined if the run does not exist any more. */
  async read(
    runId: string,
    steps: readonly number[],
    { branches = NONE, settled = null }: Reading = {},
  ): Promise<ForwardPayloads | undefined> {
    const withEnds = branches.length > 0 || settled !== null
    const payloads = await this.load({ runId, steps, branches: withEnds })
    if (payloads === undefined) return undefined
    const found = branches.length === 0 ? undefined : branchesOf(payloads)
    const byStep = outputsOf(payloads, settled)
    this.rememberInput(runId, payloads.input)
    // Only what was asked for has ended: another request of the same call may be about a step that has yet to complete.
    for (const step of steps) this.rememberOutput(runId, step, byStep.get(step) ?? null)
    for (const step of branches) this.rememberBranch(runId, step, found?.get(step) ?? null)
    return { input: payloads.input, outputs: steps.map((step) => byStep.get(step) ?? null), branches: found }
  }

  /** Reads from the store. Concurrent reads share one call. */
  load(request: PayloadRequest): Promise<RunPayloads | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) queueMicrotask(() => void this.#read())
      this.#pending.push({ request, resolve, reject })
    })
  }

  async #read(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    await sendApart(pending, {
      send: (part) => this.#readPart(part),
      refused: (entry, error) => entry.reject(error),
      heldUp: (entry, error) => entry.reject(error),
      unanswered: (part, error) => {
        for (const entry of part) entry.reject(error)
      },
    })
  }

  async #readPart(pending: readonly Pending[]): Promise<void> {
    const steps = new Map<string, Set<number>>()
    const heartbeats = new Map<string, HeartbeatRequest[]>()
    const branches = pending.some(({ request }) => request.branches)
    const lastRounds = new Map<string, number[]>()
    const outputs = new Map<string, number[]>()
    for (const { request } of pending) {
      const { runId } = request
      const wanted = steps.get(runId) ?? new Set()
      for (const step of request.steps) wanted.add(step)
      steps.set(runId, wanted)
      append(lastRounds, runId, request.lastRoundsOf)
      append(outputs, runId, request.outputsOf)
      append(heartbeats, runId, request.heartbeats)
    }
    const found = await this.#adapter.load(
      [...steps].map(([runId, set]) => {
        const together = { lastRoundsOf: lastRounds.get(runId), outputsOf: outputs.get(runId) }
        const request = { runId, steps: [...set], branches, ...together }
        return heartbeats.size === 0 ? request : { ...request, heartbeats: heartbeats.get(runId) }
      }),
    )
    const byRun = new Map(found.map((payloads) => [payloads.runId, payloads]))
    for (const { request, resolve } of pending) resolve(byRun.get(request.runId))
  }

  #find(runId: string): Entry | undefined {
    const young = this.#young.get(runId)
    if (young !== undefined || this.#old.size === 0) return young
    const old = this.#old.get(runId)
    if (old === undefined) return undefined
    this.#old.delete(runId)
    this.#keep(runId, old)
    return old
  }

  #create(runId: string): Entry {
    const entry: Entry = {
      input: undefined,
      cause: undefined,
      outputs: [],
      branches: undefined,
      chars: OVERHEAD_CHARS,
    }
    this.#keep(runId, entry)
    return entry
  }

  #keep(runId: string, entry: Entry): void {
    this.#young.set(runId, entry)
    this.#youngChars += entry.chars
    if (this.#youngChars > CHARS_MAX) this.#turn()
  }

  #grow(runId: string, entry: Entry, text: JsonText): void {
    const chars = (text?.length ?? 0) + OVERHEAD_CHARS
    entry.chars += chars
    this.#youngChars += chars
    // A run larger than a generation would evict all others.
    if (entry.chars > CHARS_MAX) this.forget(runId)
    else if (this.#youngChars > CHARS_MAX) this.#turn()
  }

  #turn(): void {
    this.#old = this.#young
    this.#young = new Map()
    this.#youngChars = 0
  }
}

const NONE: readonly number[] = []

function append<Value>(
  lists: Map<string, Value[]>,
  runId: string,
  values: readonly Value[] | undefined,
): void {
  if (values === undefined) return
  const list = lists.get(runId)
  if (list === undefined) lists.set(runId, [...values])
  else list.push(...values)
}

/** What a dependent needs to know besides outputs. */
interface Reading {
  /** The steps of which it needs the branches. */
  readonly branches?: readonly number[] | undefined
  /** The steps of which it gets a `Settled`; null for none. */
  readonly settled?: readonly number[] | null
}

/** The outputs that a read has found, by step. Of steps in `settled`, the texts of `Settled`: the read must have asked for branches. */
export function outputsOf({ steps }: RunPayloads, settled: readonly number[] | null): Map<number, JsonText> {
  return new Map(
    steps.map((found) => [found.step, settled?.includes(found.step) ? settledText(found) : found.output]),
  )
}

/** The branches that a read has found, by step. */
export function branchesOf({ steps }: RunPayloads): ReadonlyMap<number, JsonText> {
  return new Map(steps.map(({ step, branch }) => [step, branch ?? null]))
}
