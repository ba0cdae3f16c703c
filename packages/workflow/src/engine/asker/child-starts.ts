import type { JsonText } from '../../adapter/index.ts'
import type { StepContext } from '../../definition/handler.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { PermanentError } from '../../handler-errors.ts'
import type { Ask, Code, NewChild } from '../../owner/index.ts'
import type { Store } from '../../store/index.ts'
import type { ChildRuns, StepWithChild } from '../attempt/child-runs.ts'
import { fromJsonText, toJsonText } from '../base/payload.ts'
import type { Runtime } from '../base/runtime.ts'
import { answerOf } from '../base/user-code.ts'
import { childKey } from '../children/child-key.ts'
import type { ChildState } from '../decisions/decide-child.ts'
import { priorities } from '../start/priorities.ts'

/** A definition that a child may have, and its code if this process has it. */
export interface ChildCode extends Pick<Code, 'definition' | 'workflow' | 'steps'> {
  readonly definedAs: WorkflowDefinition | undefined
}

export interface ChildStartsParts {
  readonly store: Pick<Store, 'peek' | 'payloads'>
  readonly runtime: Pick<Runtime, 'clock' | 'newId'>
  readonly payloadMaxBytes: number
  /** The newest one, if only a name is given. @throws BelayError `unknown_workflow`. */
  readonly childCode: (of: WorkflowDefinition | string) => Promise<ChildCode>
  /** The store’s clock, in epoch milliseconds. */
  readonly now: () => number
}

/** An ask about a child, and what its answer is to start. */
interface Asked {
  readonly ask: Ask
  child?: NewChild
}

/** What attempts say of children: a child is started by the commit of its parent, and tells it by mail what becomes of it. */
export class ChildStarts implements ChildRuns {
  readonly #parts: ChildStartsParts
  readonly #asked = new WeakMap<StepWithChild['claim'], Asked>()

  constructor(parts: ChildStartsParts) {
    this.#parts = parts
  }

  /** An attempt of this claim answers this ask. */
  expect(claim: StepWithChild['claim'], ask: Ask): void {
    this.#asked.set(claim, { ask })
  }

  childOf(claim: StepWithChild['claim']): NewChild | undefined {
    return this.#asked.get(claim)?.child
  }

  async follow(step: StepWithChild, context: StepContext): Promise<ChildState> {
    const asked = this.#asked.get(step.claim)!
    // A round has ended, and its loop asks whether another one follows.
    if (asked.ask.phase === 'until') return { type: 'completed', outputs: await this.#outputsOf(step) }
    asked.child = await this.#newChild(step, context, asked.ask)
    return { type: 'open' }
  }

  /** The machine tells the child. */
  async undo({ wait }: StepWithChild): Promise<'kept' | 'over'> {
    return wait.keepsEffects ? 'kept' : 'over'
  }

  async #outputsOf({ claim }: StepWithChild): Promise<Readonly<Record<string, unknown>>> {
    const { owned, unit } = this.#asked.get(claim)!.ask
    const round = unit.units!.findLast(({ status }) => status === 'completed')!
    const known = owned.outputOf(round.no)
    const read =
      known === undefined ? await this.#parts.store.payloads([{ run: owned.id, no: round.no }]) : []
    return fromJsonText(known ?? read[0]?.output ?? null) as Readonly<Record<string, unknown>>
  }

  async #newChild(step: StepWithChild, context: StepContext, ask: Ask): Promise<NewChild> {
    const { wait } = step
    const { runtime, childCode, now } = this.#parts
    const key = childKey(step, context)
    await this.#checkDepth(step, ask)
    const input: unknown = wait.computesInput ? await this.#computedInput(step, context) : givenInput(context)
    const { definedAs, definition, workflow, steps } = await childCode(wait.of as WorkflowDefinition | string)
    const { deadlineAt, priority } = ask.owned.run
    const isBound = deadlineAt !== null && !wait.detached && step.step.pivotsBefore.length === 0
    const leftMs = isBound ? Math.max(1, deadlineAt - now()) : undefined
    const deadlineMs = sooner(definedAs?.deadlineMs ?? undefined, leftMs)
    const own = priorities(definedAs ?? { steps: [] }, priority || undefined)
    return {
      ...{ id: runtime.newId(), definition, workflow, steps },
      run: {
        key,
        input: await this.#checked(definedAs, workflow, input),
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
        priority: own.priority ?? 0,
      },
    }
  }

  /** Refuses a child that would have too many parents above one another: a workflow that starts itself must end somewhere. */
  async #checkDepth({ step, wait }: StepWithChild, { owned }: Ask): Promise<void> {
    if (wait.detached) return
    let { parent } = owned
    for (let depth = 1; parent != null && parent.detached !== true; depth += 1) {
      if (depth === wait.depthMax) {
        throw new PermanentError(
          `Step "${step.name}" of run ${owned.id} cannot start its child: it would have more than ${wait.depthMax} parents above one another. Let the workflow end its recursion, or raise \`depthMax\`.`,
        )
      }
      const [above] = await this.#parts.store.peek([parent.run])
      parent = above?.parent ?? null
    }
  }

  #computedInput({ claim, step }: StepWithChild, context: StepContext): unknown {
    const what = `\`input\` of step "${step.name}" of run ${claim.runId}`
    return answerOf<unknown>(this.#parts.runtime.clock, what, () => step.run!(context))
  }

  async #checked(
    definition: WorkflowDefinition | undefined,
    name: string,
    input: unknown,
  ): Promise<JsonText> {
    const { runtime, payloadMaxBytes } = this.#parts
    const what = `Input of the child "${name}"`
    try {
      const valid: unknown =
        definition === undefined
          ? input
          : await answerOf(runtime.clock, what, () => definition.validate(input))
      return toJsonText(valid, payloadMaxBytes, () => ({ what }))
    } catch (cause) {
      // A repetition gives the same input.
      if (BelayError.is(cause) && cause.code === 'invalid_input')
        throw new PermanentError(cause.message, { cause })
      throw cause
    }
  }
}

/** Without a function that computes it, an item is the input of its child, and a step's child gets what the parent got. */
function givenInput(context: StepContext): unknown {
  return 'item' in context ? context.item : context.input
}

function sooner(own: number | undefined, parents: number | undefined): number | undefined {
  return own === undefined || parents === undefined ? (own ?? parents) : Math.min(own, parents)
}
