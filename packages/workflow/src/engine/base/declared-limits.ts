import type { DeclaredLimit, RateSpan } from '../../adapter/index.ts'
import { rateWords } from '../../adapter/rate-words.ts'
import type { LimitPolicy } from '../../definition/limit.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'

/** Whether attempts of this definition enter limits. */
export function hasLimits(definition: WorkflowDefinition): boolean {
  return limitsIn(definition).length > 0
}

/**
 * The limits that these definitions declare, by name.
 *
 * @throws BelayError `invalid_option` if two of them declare different numbers for one name, or only one says `cancel-older` of it.
 */
export function declaredLimits(definitions: Iterable<WorkflowDefinition>): readonly DeclaredLimit[] {
  const declared = new Map<string, Declaration>()
  // A workflow's newest version comes last, and a limit is no part of a version's shape.
  const newest = [...definitions].sort((one, other) => one.version - other.version)
  for (const definition of newest) {
    for (const { name, concurrency, rate, atLimit } of limitsIn(definition)) {
      const known = declared.get(name)
      const mine = { concurrency, rate, atLimit, workflow: definition.name }
      if (known !== undefined && known.workflow !== definition.name) checkAgreement(name, known, mine)
      declared.set(name, mine)
    }
  }
  return [...declared].map(([name, { concurrency, rate }]) =>
    rate === null ? { name, concurrency } : { name, concurrency, rate },
  )
}

/** The limits of which only the newest runs count, as the newest version of each workflow says. */
export function limitsOfNewest(definitions: Iterable<WorkflowDefinition>): ReadonlySet<string> {
  const names = new Set<string>()
  for (const definition of [...definitions].sort((one, other) => one.version - other.version)) {
    for (const { name, atLimit } of limitsIn(definition)) {
      if (atLimit === 'cancel-older') names.add(name)
      else names.delete(name)
    }
  }
  return names
}

interface Declaration extends Pick<LimitPolicy, 'atLimit'> {
  readonly concurrency: number
  readonly rate: RateSpan | null
  readonly workflow: string
}

function wordsOf({ concurrency, rate }: Declaration): string {
  return rate === null ? `${concurrency}` : rateWords(concurrency, rate)
}

function checkAgreement(name: string, one: Declaration, other: Declaration): void {
  if (wordsOf(one) !== wordsOf(other)) throw contradiction(name, one, other)
  const isOfNewest = ({ atLimit }: Declaration) => atLimit === 'cancel-older'
  if (isOfNewest(one) === isOfNewest(other)) return
  const [says, lacks] = isOfNewest(one) ? [one, other] : [other, one]
  throw new BelayError(
    'invalid_option',
    `Limit "${name}" says atLimit: 'cancel-older' in workflow "${says.workflow}" and not in workflow "${lacks.workflow}". The same name is the same limit: let both say it of their runs, or give one of them another name.`,
  )
}

function contradiction(name: string, one: Declaration, other: Declaration): BelayError {
  return new BelayError(
    'invalid_option',
    `Limit "${name}" is ${wordsOf(one)} in workflow "${one.workflow}" and ${wordsOf(other)} in workflow "${other.workflow}". The same name is the same limit: give both the same number, or one of them another name.`,
  )
}

function limitsIn({ steps }: WorkflowDefinition): readonly LimitPolicy[] {
  return steps.flatMap(({ limits, map }) => [
    ...(limits ?? []),
    ...(map?.part === 'map' || map?.part === 'repeat' ? (map.item.limits ?? []) : []),
  ])
}
