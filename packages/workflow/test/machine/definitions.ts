import { type ChildSpec, child } from '../../src/machine/kinds/child.ts'
import { type FirstSpec, first } from '../../src/machine/kinds/first.ts'
import { type GraphSpec, graph, type StepSpec } from '../../src/machine/kinds/graph.ts'
import { type LoopSpec, loop } from '../../src/machine/kinds/loop.ts'
import { type MailboxSpec, mailbox } from '../../src/machine/kinds/mailbox.ts'
import { type MapSpec, map } from '../../src/machine/kinds/map.ts'
import { type FunctionSpec, recorded } from '../../src/machine/kinds/recorded.ts'
import { signal } from '../../src/machine/kinds/signal.ts'
import { sleep } from '../../src/machine/kinds/sleep.ts'
import { work } from '../../src/machine/kinds/work.ts'
import type { Spec } from '../../src/machine/state.ts'
import type { Random } from './random.ts'

/** A call of a function’s body: made when some earlier ones have ended. */
export interface Call {
  readonly name: string
  readonly key: string
  readonly after: readonly number[]
  /** A failure of what it called is thrown by the body. */
  readonly throws: boolean
}

/** What the code of a step says, and its shape does not. */
export type TransactionalSpec = Spec & { readonly transacts?: true }
export type KeptSpec = ChildSpec & { readonly keeps?: true }

export type ScriptedSpec = FunctionSpec & { readonly script: readonly Call[] }

/** A graph from steps that name what they depend on, in topological order. */
export function graphOf(
  steps: readonly (Omit<StepSpec, 'index' | 'next' | 'after'> & { readonly dependsOn?: readonly string[] })[],
  more: Partial<Spec> = {},
): GraphSpec {
  const after = steps.map(({ dependsOn = [], cases = {} }) => [
    ...new Set([...dependsOn, ...Object.keys(cases)]),
  ])
  const next = new Map<string, string[]>(steps.map(({ name }) => [name, []]))
  for (const [index, { name }] of steps.entries())
    for (const each of after[index]!) next.get(each)!.push(name)
  const made = steps.map(
    ({ dependsOn: _, ...step }, index): StepSpec => ({
      ...step,
      index,
      after: after[index]!,
      next: next.get(step.name)!,
    }),
  )
  return {
    of: graph,
    name: 'graph',
    ...more,
    steps: made,
    byName: new Map(made.map((step) => [step.name, step])),
  }
}

/** Random definitions, nested. */
export class Definitions {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** A run’s root. */
  root(): Spec {
    const random = this.#random
    return random.chance(0.85) ? this.graph(random.chance(0.25) ? 3 : 2, true) : this.function(2)
  }

  graph(depth: number, isRoot = false): GraphSpec {
    const random = this.#random
    const count = 1 + random.upto(isRoot ? 6 : 3)
    const pivot = random.chance(isRoot ? 0.15 : 0.05) ? random.upto(count) : -1
    const steps: (StepSpec & { dependsOn: readonly string[] })[] = []
    for (let i = 0; i < count; i++) {
      const isPivot = i === pivot
      const own = isPivot ? this.#options({ of: work, name: '' }) : this.part(depth)
      const dependsOn = isPivot
        ? steps.map(({ name }) => name)
        : steps
            .filter(
              ({ name }) => random.chance(1.6 / (i + 1)) || (pivot >= 0 && i > pivot && name === `s${pivot}`),
            )
            .map(({ name }) => name)
      steps.push({ ...this.#step(own, steps, isPivot), name: `s${i}`, dependsOn } as never)
    }
    return graphOf(steps)
  }

  #step(own: Spec, earlier: readonly StepSpec[], isPivot: boolean): object {
    const random = this.#random
    const isBorne = !isPivot && random.chance(0.15) && own.of !== map
    const deciding = earlier.filter(
      ({ chooses, onFailure, of }) => chooses === true || (onFailure === 'continue' && of !== map),
    )
    const decides = !isPivot && deciding.length > 0 && random.chance(0.35) ? random.pick(deciding) : undefined
    const cases =
      decides === undefined
        ? {}
        : {
            cases: {
              [decides.name]: [
                decides.chooses === true ? random.pick(['a', 'b']) : random.pick(['completed', 'failed']),
              ],
            },
          }
    const { when: _, ...unconditional } = own
    return {
      ...(isPivot ? { ...unconditional, pivot: true } : own),
      ...(random.chance(0.5) ? { onSkipped: 'run' } : {}),
      ...(isBorne ? { onFailure: 'continue' } : {}),
      ...cases,
    }
  }

  function(depth: number): ScriptedSpec {
    const random = this.#random
    const steps: Record<string, Spec> = {}
    const script: Call[] = []
    for (let i = 0; i < 1 + random.upto(4); i++) {
      const name = i > 0 && random.chance(0.3) ? random.pick(Object.keys(steps)) : `f${i}`
      steps[name] ??= { ...this.part(depth), name }
      const nth = script.filter((call) => call.name === name).length
      const after = script.map((_, place) => place).filter(() => random.chance(0.5))
      script.push({ name, key: `${name}#${nth}`, after, throws: random.chance(0.6) })
    }
    return { of: recorded, name: 'function', steps, script }
  }

  part(depth: number): Spec {
    const random = this.#random
    const x = depth > 0 ? random.next() : 1
    if (x < 0.08) return this.#options(this.graph(depth - 1))
    if (x < 0.17) {
      const spec: MapSpec = {
        ...{ of: map, name: 'map', each: this.part(depth - 1) },
        ...(random.chance(0.5) ? { collects: true } : {}),
      }
      return this.#options(spec)
    }
    if (x < 0.25) return this.#options({ of: loop, name: 'loop', each: this.part(depth - 1) } as LoopSpec)
    if (x < 0.33) {
      const each = Array.from({ length: 1 + random.upto(3) }, () => this.part(depth - 1))
      const count = 1 + random.upto(each.length)
      return this.#options({
        of: first,
        name: 'first',
        each,
        count,
        losers: random.chance(0.7) ? 'undo' : 'keep',
      } as FirstSpec)
    }
    if (x < 0.39) {
      const collects = random.chance(0.5) ? { collects: true } : {}
      return this.#options({
        of: mailbox,
        name: 'mailbox',
        each: this.part(depth - 1),
        ...collects,
      } as MailboxSpec)
    }
    if (x < 0.47) return this.#options(this.function(depth - 1))
    return this.#options(this.#leaf())
  }

  #leaf(): Spec {
    const random = this.#random
    const x = random.next()
    if (x < 0.52) return { of: work, name: 'work' }
    if (x < 0.62) return { of: work, name: 'transactional', transacts: true } as TransactionalSpec
    if (x < 0.7) return { of: work, name: 'choose', chooses: true } as Spec
    if (x < 0.77) return { of: sleep, name: 'sleep' }
    if (x < 0.9) return { of: signal, name: 'signal' }
    const child_: KeptSpec = {
      ...{ of: child, name: 'child' },
      ...(random.chance(0.15) ? { detached: true } : {}),
      ...(random.chance(0.15) ? { keeps: true } : {}),
    }
    return child_
  }

  #options(spec: Spec): Spec {
    const random = this.#random
    const isWork = spec.of === work
    const isAsOne = spec.of === map || spec.of === first
    const compensates = (isWork && random.chance(0.65)) || (isAsOne && random.chance(0.2))
    return {
      ...spec,
      ...(compensates ? { compensate: isWork && random.chance(0.35) ? 'started' : 'completed' } : {}),
      ...(random.chance(0.12) ? { when: true } : {}),
    }
  }
}
