import type { WorkflowDefinition } from '@belay/workflow'
import type { Store } from '@belay/workflow/store'
import { AttemptAsker } from '../../../workflow/src/engine/asker/asker.ts'
import { Context } from '../../../workflow/src/engine/base/context.ts'
import { EventHub } from '../../../workflow/src/engine/base/events.ts'
import { silentLogger } from '../../../workflow/src/logger.ts'
import { specOfShape } from '../../../workflow/src/machine/spec-of-shape.ts'
import {
  type Code,
  codeOf,
  type Delivered,
  deliver,
  type MailEvent,
  Owner,
} from '../../../workflow/src/owner/index.ts'
import { VirtualClock } from '../../src/clock/virtual-clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { newId } from '../owner/bench.ts'

/** Workflows as users define them, on the new engine, over a store in memory. */
export class AskerBench {
  readonly clock = new VirtualClock()
  readonly store: Store = memoryStore({ clock: this.clock })
  readonly told: string[] = []
  readonly #definitions = new Map<number, WorkflowDefinition>()
  readonly #codes = new Map<string, Code>()
  owner!: Owner

  async open(workflows: readonly unknown[], { slots = 20 }: { readonly slots?: number } = {}): Promise<this> {
    const given = workflows as readonly WorkflowDefinition[]
    const saved = await this.store.define(given.map(({ record }) => record))
    for (const [index, { id }] of saved.entries()) {
      const definition = given[index]!
      this.#definitions.set(id, definition)
      this.#codes.set(definition.name, codeOf(id, definition.name, specOfShape(definition.record.shape)))
    }
    this.owner = this.worker({ slots })
    await this.owner.start()
    return this
  }

  worker({ slots }: { readonly slots: number }): Owner {
    const { store, clock } = this
    const context = new Context()
    const events = new EventHub(silentLogger, context)
    for (const name of [
      'step.started',
      'step.completed',
      'step.failed',
      'step.retrying',
      'step.compensated',
    ] as const)
      events.on(name, ({ step }) => void this.told.push(`${name.slice(5)} ${step}`))
    const asker = new AttemptAsker({
      ...{ store, events, definitions: this.#definitions, log: silentLogger, around: undefined },
      ...{ workerId: 'w', payloadMaxBytes: 1_000_000, storeStacks: false },
      runtime: { clock, newId, random: () => 0.5, context },
      runOf: (id) => owner.owned.get(id),
      now: () => owner.now(),
      mayBegin: () => owner.mayBegin(),
      childCode: async (of) => {
        const name = typeof of === 'string' ? of : of.name
        const code = this.#codes.get(name)!
        return { ...code, definedAs: this.#definitions.get(code.definition) }
      },
    })
    const byId = new Map([...this.#codes.values()].map((code) => [code.definition, code]))
    const owner: Owner = new Owner({
      ...{ store, asker, clock, newId, log: silentLogger, name: 'w', slots, leaseMs: 10_000, tickMs: 200 },
      codes: byId,
    })
    return owner
  }

  async start(workflow: unknown, input: unknown = {}): Promise<string> {
    const { definition, workflow: name, steps } = this.#codes.get((workflow as WorkflowDefinition).name)!
    const id = newId()
    const run = { id, key: null, input: JSON.stringify(input) }
    await this.owner.startRuns({ definition, workflow: name, steps, runs: [run] })
    return id
  }

  /** Lets time pass until the run has this status. */
  async ended(run: string, status = 'completed'): Promise<void> {
    const end = this.clock.now() + 3_600_000
    let found = await this.#statusOf(run)
    while (found !== status) {
      if (this.clock.now() > end)
        throw new Error(`Run ${run} is ${found}: ${JSON.stringify(await this.cause(run))}`)
      await this.clock.advance(500)
      found = await this.#statusOf(run)
    }
  }

  async #statusOf(run: string): Promise<string | undefined> {
    return (await this.store.peek([run]))[0]?.status
  }

  async cause(run: string): Promise<unknown> {
    const [found] = await this.store.peek([run])
    return found?.cause == null ? null : JSON.parse(found.cause)
  }

  async outputs(run: string): Promise<Readonly<Record<string, unknown>>> {
    const [found] = await this.store.peek([run])
    const steps = found!.steps!.filter(({ scope }) => scope === 0)
    const payloads = await this.store.payloads(steps.map(({ no }) => ({ run, no })))
    const outputs = steps.map(({ no, name }) => {
      const text = payloads.find((each) => each.no === no)?.output ?? null
      return [name, text === null ? undefined : JSON.parse(text)]
    })
    return Object.fromEntries(outputs)
  }

  async error(run: string, step: string): Promise<{ readonly message: string; readonly code?: string }> {
    const [found] = await this.store.peek([run])
    const { no } = found!.steps!.find(({ name }) => name === step)!
    const [payloads] = await this.store.payloads([{ run, no }])
    return JSON.parse(payloads!.error!)
  }

  async send(run: string, event: MailEvent, payload: unknown = null): Promise<Delivered> {
    const mail = { run, key: newId(), event: JSON.stringify(event), payload: JSON.stringify(payload) }
    const [delivered] = await this.clock.runUntil(deliver(this.owner, [mail], { operates: true }))
    return delivered!
  }

  async close(): Promise<void> {
    await this.clock.runUntil(this.owner.stop(0))
  }
}
