import { DefinitionError, type DefinitionProblem } from '../errors.ts'

/** The place of a problem in a definition. */
export interface Place {
  readonly workflow: string
  readonly step?: string | undefined
}

/** Makes a {@link DefinitionError} whose message begins with the place: `Workflow "checkout", step "chargeCard": …`. */
export function definitionError(
  place: Place,
  message: string,
  context: { readonly cause?: unknown } & Partial<Omit<DefinitionProblem, 'message' | 'step'>> = {},
): DefinitionError {
  const { cause, kind = 'other', ...problem } = context
  const step = place.step === undefined ? '' : `, step "${place.step}"`
  const whole = `Workflow "${place.workflow}"${step}: ${message}`
  return new DefinitionError(whole, {
    cause,
    step: place.step,
    problems: [{ kind, message: whole, step: place.step, ...problem }],
  })
}

// A definition may have thousands of steps; a message that lists them all helps nobody.
const LISTED_MAX = 12

/** Names for a message: `a, b, c`. A long list ends with the number of the others. */
export function listed(names: readonly string[]): string {
  if (names.length <= LISTED_MAX) return names.join(', ')
  return `${names.slice(0, LISTED_MAX).join(', ')} and ${names.length - LISTED_MAX} more`
}
