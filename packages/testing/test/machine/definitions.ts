import type { DefinitionShape, StepShape } from '@belay/workflow/adapter'
import type { Random } from '../../src/conformance/differential/random.ts'

/** What the code of a definition says besides its shape, by the name of a step. */
export interface StepCode {
  /** Of a map. */
  readonly concurrency?: number
  /** Of a signal. */
  readonly timeoutMs?: number
}

export interface Definition {
  readonly shape: DefinitionShape
  readonly code: ReadonlyMap<string, StepCode>
  /** Of the run; null: none. */
  readonly deadlineMs: number | null
}

export type Draft = Partial<Omit<StepShape, 'dependsOn'>> & { readonly after: readonly string[] } & StepCode

/** A definition from short drafts, by name. A map or a loop gets its two steps. */
export function definitionOf(
  drafts: Readonly<Record<string, Draft>>,
  deadlineMs: number | null = null,
): Definition {
  const steps: StepShape[] = []
  const code = new Map<string, StepCode>()
  const numberOf = (name: string) => steps.findIndex((step) => step.name === name)
  for (const [name, { after, concurrency, timeoutMs, ...shape }] of Object.entries(drafts)) {
    const dependsOn = after.map(numberOf).sort((one, other) => one - other)
    const opens = shape.kind === 'map' || shape.kind === 'repeat'
    steps.push({ compensate: 'never', ...shape, name: opens ? `${name}[]` : name, dependsOn })
    if (opens) {
      const onFailure = shape.kind === 'repeat' && shape.onFailure ? { onFailure: shape.onFailure } : {}
      steps.push({ name, dependsOn: [steps.length - 1], compensate: 'never', kind: 'join', ...onFailure })
    }
    code.set(name, {
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
  }
  return { shape: { steps }, code, deadlineMs }
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

/** A random graph of one to seven steps. */
export function randomDefinition(random: Random): Definition {
  const drafts: Record<string, Draft> = {}
  const steps = 1 + random.below(NAMES.length)
  const pivotAt = random.chance(0.3) ? random.below(steps) : -1
  let pivot: string | undefined
  for (const [place, name] of NAMES.slice(0, steps).entries()) {
    const known = Object.keys(drafts)
    const isPivot = place === pivotAt
    const before = new Set(isPivot ? sinksOf(drafts) : random.sample(known.slice(-4), random.below(3)))
    // Every other step comes before the pivot or after it.
    if (pivot !== undefined && !isAfter(drafts, [...before], pivot)) before.add(pivot)
    const after = [...before]
    drafts[name] = {
      after,
      ...(isPivot ? pivotDraft(random) : draftOf(random)),
      ...branchOf(random, drafts, after),
    }
    if (isPivot) pivot = name
  }
  return definitionOf(drafts, random.chance(0.15) ? 6_500 : null)
}

const COMPENSATES = ['never', 'completed', 'completed', 'started'] as const

function pivotDraft(random: Random): Omit<Draft, 'after'> {
  return { pivot: true, compensate: random.pick(COMPENSATES) }
}

function draftOf(random: Random): Omit<Draft, 'after'> {
  const onFailure = random.chance(0.2) ? ({ onFailure: 'continue' } as const) : {}
  const kind = random.weighted({
    work: 60,
    choose: 8,
    map: 12,
    repeat: 8,
    signal: 5,
    approval: 4,
    sleep: 5,
    poll: 6,
  })
  switch (kind) {
    case 'work':
      return { compensate: random.pick(COMPENSATES), ...onFailure }
    case 'choose':
      return { kind, cases: ['x', 'y'], ...onFailure }
    case 'map': {
      const isWhole = random.chance(0.3)
      return {
        kind,
        compensate: isWhole ? random.pick(['completed', 'started'] as const) : random.pick(COMPENSATES),
        ...(isWhole ? { compensateAll: true as const } : {}),
        ...(random.chance(0.5) ? { concurrency: 1 + random.below(2) } : {}),
        ...onFailure,
      }
    }
    case 'repeat':
      return { kind, compensate: random.pick(COMPENSATES), ...onFailure }
    case 'signal':
    case 'approval':
      return { kind, ...(random.chance(0.4) ? { timeoutMs: 5_000 } : {}), ...onFailure }
    default:
      return { kind, ...onFailure }
  }
}

function branchOf(random: Random, drafts: Readonly<Record<string, Draft>>, after: readonly string[]) {
  const onSkipped = after.length > 0 && random.chance(0.25) ? ({ onSkipped: 'run' } as const) : {}
  if (random.chance(0.12)) return { when: 'function' as const, ...onSkipped }
  const deciding = after.find((name) => drafts[name]!.kind === 'choose' || continues(drafts[name]!))
  if (deciding === undefined || random.chance(0.4)) return onSkipped
  const cases = drafts[deciding]!.kind === 'choose' ? ['x', 'y'] : ['completed', 'failed']
  return { when: [{ choice: deciding, cases: [random.pick(cases)] }], ...onSkipped }
}

const continues = ({ kind, onFailure }: Draft): boolean => onFailure === 'continue' && kind !== 'map'

function sinksOf(drafts: Readonly<Record<string, Draft>>): readonly string[] {
  const used = new Set(Object.values(drafts).flatMap(({ after }) => after))
  return Object.keys(drafts).filter((name) => !used.has(name))
}

function isAfter(drafts: Readonly<Record<string, Draft>>, names: readonly string[], pivot: string): boolean {
  return names.some((name) => name === pivot || isAfter(drafts, drafts[name]!.after, pivot))
}
