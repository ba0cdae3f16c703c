import type { Adapter, JsonText, PayloadRequest, RunPayloads } from '../adapter/index.ts'

/** What the cache may hold, in characters of JSON text. About twice that in bytes. */
const CHARS_MAX = 16 * 1024 * 1024

interface Entry {
  input: JsonText | undefined
  readonly outputs: Map<number, JsonText>
  chars: number
}

/** What a forward attempt reads. */
export interface ForwardPayloads {
  readonly input: JsonText
  /** In the order of the steps asked for. */
  readonly outputs: readonly JsonText[]
}

interface Pending {
  readonly request: PayloadRequest
  readonly resolve: (payloads: RunPayloads | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Inputs and outputs that this process has seen, so that a chain of steps in one worker never reads back what it just wrote.
 * Both never change once they are stored. Bounded; the least recently used run goes first. Misses of one moment share a read.
 */
export class PayloadCache {
  readonly #adapter: Adapter
  readonly #runs = new Map<string, Entry>()
  #chars = 0
  #pending: Pending[] = []

  constructor(adapter: Adapter) {
    this.#adapter = adapter
  }

  rememberInput(runId: string, input: JsonText): void {
    const entry = this.#touch(runId)
    if (entry.input !== undefined) return
    entry.input = input
    this.#grow(entry, input)
  }

  rememberOutput(runId: string, step: number, output: JsonText): void {
    const entry = this.#touch(runId)
    if (entry.outputs.has(step)) return
    entry.outputs.set(step, output)
    this.#grow(entry, output)
  }

  forget(runId: string): void {
    const entry = this.#runs.get(runId)
    if (entry === undefined) return
    this.#runs.delete(runId)
    this.#chars -= entry.chars
  }

  /** What `forward` gives, when this process knows all of it. */
  knownForward(runId: string, steps: readonly number[]): ForwardPayloads | undefined {
    const entry = this.#runs.get(runId)
    if (entry?.input === undefined || !steps.every((step) => entry.outputs.has(step))) return undefined
    return { input: entry.input, outputs: steps.map((step) => entry.outputs.get(step) ?? null) }
  }

  /** The run's input and the outputs of these steps, in their order, from the store. Undefined when the run is gone. */
  async forward(runId: string, steps: readonly number[]): Promise<ForwardPayloads | undefined> {
    const payloads = await this.load({ runId, steps })
    if (payloads === undefined) return undefined
    const byStep = new Map(payloads.steps.map((step) => [step.step, step.output]))
    this.rememberInput(runId, payloads.input)
    for (const [step, output] of byStep) this.rememberOutput(runId, step, output)
    return { input: payloads.input, outputs: steps.map((step) => byStep.get(step) ?? null) }
  }

  /** Reads from the store, together with the other reads asked for at this moment. */
  load(request: PayloadRequest): Promise<RunPayloads | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) queueMicrotask(() => void this.#read())
      this.#pending.push({ request, resolve, reject })
    })
  }

  async #read(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    const steps = new Map<string, Set<number>>()
    for (const { request } of pending) {
      const wanted = steps.get(request.runId) ?? new Set()
      for (const step of request.steps) wanted.add(step)
      steps.set(request.runId, wanted)
    }
    try {
      const found = await this.#adapter.load([...steps].map(([runId, set]) => ({ runId, steps: [...set] })))
      const byRun = new Map(found.map((payloads) => [payloads.runId, payloads]))
      for (const { request, resolve } of pending) resolve(byRun.get(request.runId))
    } catch (error) {
      for (const entry of pending) entry.reject(error)
    }
  }

  #touch(runId: string): Entry {
    const entry = this.#runs.get(runId) ?? { input: undefined, outputs: new Map(), chars: 0 }
    this.#runs.delete(runId)
    this.#runs.set(runId, entry)
    return entry
  }

  #grow(entry: Entry, text: JsonText): void {
    // A flat charge per value, so that a million tiny ones are bounded too.
    const chars = (text?.length ?? 0) + 64
    entry.chars += chars
    this.#chars += chars
    for (const runId of this.#runs.keys()) {
      if (this.#chars <= CHARS_MAX) return
      this.forget(runId)
    }
  }
}
