import type { Compensation, Handler, StepContext, StepDefinition, WorkflowDefinition } from '@belay/workflow'
import type { Script, ScriptedCall } from './script.ts'

export interface ScriptingParts {
  readonly script: Script
  readonly worker: ScriptedCall['worker']
  /** The workflow under test: names of its steps stand alone, others after their workflow. */
  readonly tested: string
  /** Definitions that replace those of children, and those that children name. */
  readonly others: readonly WorkflowDefinition[]
}

/** Definitions like the given ones, with every handler called by the script. Their graphs and shapes stay what they are. */
export class ScriptedDefinitions {
  readonly #parts: ScriptingParts
  readonly #made = new Map<string, WorkflowDefinition>()

  constructor(parts: ScriptingParts) {
    this.#parts = parts
  }

  of(given: WorkflowDefinition): WorkflowDefinition {
    const { others } = this.#parts
    const replaced = others.find(({ name, version }) => name === given.name && version === given.version)
    const definition = replaced ?? given
    const id = `${definition.name}@${definition.version}`
    const known = this.#made.get(id)
    if (known !== undefined) return known
    const { name, version, graph, record, deadlineMs, priority, followUp, start } = definition
    const steps: StepDefinition[] = []
    const made: WorkflowDefinition = {
      ...{ name, version, graph, record, deadlineMs, priority, start, steps },
      // What has no handler gets one from the script, which says so.
      runnable: true,
      followUp: followUp === null ? null : this.of(followUp),
      validate: (input) => definition.validate(input),
    }
    // A workflow may have itself for a child.
    this.#made.set(id, made)
    steps.push(...definition.steps.map((step) => this.#step(step, this.#prefixOf(name))))
    return made
  }

  #prefixOf(workflow: string): string {
    return workflow === this.#parts.tested ? '' : `${workflow}/`
  }

  #step(step: StepDefinition, prefix: string): StepDefinition {
    const { wait, map, run, compensation } = step
    const opens = map?.part === 'map' || map?.part === 'repeat'
    const isEffect = wait === null && step.cases === null && !opens
    return {
      ...step,
      run: needsHandler(step) ? this.#handler({ step, prefix, isEffect, direction: 'forward', run }) : run,
      compensation: compensation && this.#compensation(step, compensation, prefix),
      wait:
        wait?.kind === 'child' && typeof wait.of !== 'string'
          ? { ...wait, of: this.of(asDefinition(wait.of)) }
          : wait,
      map: opens ? { ...map, item: this.#step(map.item, prefix) } : map,
    }
  }

  #compensation(step: StepDefinition, compensation: Compensation, prefix: string): Compensation {
    // The engine itself undoes a child.
    if (step.wait !== null) return compensation
    const run = compensation.run as Handler | null
    return {
      ...compensation,
      run: this.#handler({ step, prefix, isEffect: true, direction: 'undo', run }) as Compensation['run'],
    }
  }

  #handler({
    step,
    prefix,
    isEffect,
    direction,
    run,
  }: Pick<ScriptedCall, 'isEffect' | 'direction'> & {
    readonly step: StepDefinition
    readonly prefix: string
    readonly run: Handler | null
  }): Handler {
    const { script, worker } = this.#parts
    return (context: StepContext) => {
      const [own, owner] = [`${prefix}${context.step}`, `${prefix}${step.name}`]
      const names: ScriptedCall['names'] = own === owner ? [own] : [own, owner]
      return script.perform({ names, direction, isEffect, handler: run, context, worker })
    }
  }
}

/** A join and most waits are settled by the engine alone. */
function needsHandler({ wait, map, run }: StepDefinition): boolean {
  if (map?.part === 'join') return false
  return run !== null || wait === null || wait.kind === 'poll'
}

/** Definitions of children are whole definitions. */
function asDefinition(child: object): WorkflowDefinition {
  return child as WorkflowDefinition
}
