import { createEngine, type Engine, type EngineOptions, type WorkflowDefinition } from '@belay/workflow'
import type { MemoryAdapter } from '../memory/adapter.ts'
import type { Script } from './script.ts'
import { ScriptedDefinitions } from './scripted-definition.ts'

export interface TestWorkerParts {
  readonly home: MemoryAdapter
  readonly script: Script
  readonly tested: WorkflowDefinition
  readonly others: readonly WorkflowDefinition[]
  readonly options: Partial<EngineOptions>
  readonly onCrash: () => void
}

/** A worker process that can die: its timers, its calls to the store and its hints end at once, and its lease runs out. */
export class TestWorker {
  readonly engine: Engine
  readonly #die: () => void
  readonly #onCrash: () => void
  #isDead = false

  constructor({ home, script, tested, others, options, onCrash }: TestWorkerParts) {
    const { adapter, die } = home.connectProcess()
    this.#die = die
    this.#onCrash = onCrash
    const scripted = new ScriptedDefinitions({ script, worker: this, tested: tested.name, others })
    const isOther = ({ name, version }: WorkflowDefinition) =>
      name !== tested.name || version !== tested.version
    const workflows = [tested, ...others.filter(isOther)].map((definition) => scripted.of(definition))
    this.engine = createEngine({ logger: false, ...options, adapter, workflows })
  }

  get isDead(): boolean {
    return this.#isDead
  }

  crash(): void {
    if (this.#isDead) return
    this.#isDead = true
    this.#die()
    this.#onCrash()
  }
}
