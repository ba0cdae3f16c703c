import type { StandardSchemaV1 } from '@standard-schema/spec'
import { BelayError } from '../errors.ts'
import { definitionError, type Place } from '../graph/place.ts'
import { messageOf } from '../thrown.ts'
import { sentence } from '../words.ts'
import { shown } from './option-check.ts'

/** A schema that accepts everything: `define('import', { version: 1, input: unchecked<Batch>() })` types the input without checking it. */
export function unchecked<Input>(): StandardSchemaV1<Input, Input> {
  return {
    '~standard': { version: 1, vendor: 'belay', validate: (value) => ({ value: value as Input }) },
  }
}

/** Throws if `schema` is not a Standard Schema. */
export function checkSchema(place: Place, option: string, schema: unknown): void {
  if (isSchema(schema)) return
  throw definitionError(
    place,
    `${option} is ${shown(schema)}, which is not a Standard Schema. Give a schema of zod, valibot, arktype or another library that follows standardschema.dev, or unchecked<Type>().`,
  )
}

function isSchema(schema: unknown): boolean {
  try {
    // Some libraries' schemas are functions.
    return typeof (schema as StandardSchemaV1)['~standard'].validate === 'function'
  } catch {
    return false
  }
}

/**
 * Checks an input and returns the schema's output. Returns a promise only if there is a schema.
 *
 * @throws BelayError `invalid_input` that lists the problems; its `cause` is an error with the schema's `issues`, or the error that the schema
 * threw.
 */
export function validateInput(
  workflow: string,
  schema: StandardSchemaV1 | undefined,
  input: unknown,
): unknown {
  if (schema === undefined) return input
  return validated(schema, input, {
    value: `The input for workflow "${workflow}"`,
    schema: `The schema of workflow "${workflow}"`,
    check: 'an input',
    effect: 'Nothing was started.',
  })
}

/** The same for a payload sent to a step. Returned inside an object, because a promise would call a `then()` of the payload. */
export async function validatePayload(
  place: { readonly workflow: string; readonly step: string },
  schema: StandardSchemaV1 | undefined,
  payload: unknown,
): Promise<{ readonly payload: unknown }> {
  if (schema === undefined) return { payload }
  const valid = await validated(schema, payload, {
    value: `The payload for step "${place.step}" of workflow "${place.workflow}"`,
    schema: `The schema of step "${place.step}" of workflow "${place.workflow}"`,
    check: 'a payload',
    effect: 'Nothing was recorded.',
  })
  return { payload: valid }
}

/** The words of a message for the checked value. */
interface Words {
  readonly value: string
  readonly schema: string
  readonly check: string
  readonly effect: string
}

async function validated(schema: StandardSchemaV1, value: unknown, words: Words): Promise<unknown> {
  const result = await runSchema(schema, value, words)
  if (!('issues' in result)) return result.value
  const { issues: cause } = result
  throw new BelayError(
    'invalid_input',
    `${words.value} is not valid: ${sentence(cause.message)} ${words.effect}`,
    { cause },
  )
}

async function runSchema(schema: StandardSchemaV1, value: unknown, words: Words): Promise<CheckedResult> {
  try {
    return checkedResult(await schema['~standard'].validate(value))
  } catch (cause) {
    throw new BelayError(
      'invalid_input',
      `${words.schema} threw while it checked ${words.check}: ${sentence(messageOf(cause))} ${words.effect}`,
      { cause },
    )
  }
}

type CheckedResult = { readonly value: unknown } | { readonly issues: InputIssues }

/** What the schema answered. Throws what is wrong with it, if it is no result of a Standard Schema. */
function checkedResult(result: StandardSchemaV1.Result<unknown>): CheckedResult {
  if (typeof result !== 'object' || result === null)
    throw new Error(`it returned ${shown(result)} instead of an object with value or issues`)
  const { issues } = result
  if (issues === undefined) return { value: (result as { readonly value?: unknown }).value }
  return { issues: new InputIssues(issues) }
}

/** The issues of a schema, as the cause of an `invalid_input` error. */
export class InputIssues extends Error {
  override readonly name = 'InputIssues'
  readonly issues: readonly StandardSchemaV1.Issue[]

  constructor(issues: readonly StandardSchemaV1.Issue[]) {
    super(issueList(issues))
    this.issues = issues
  }
}

const ISSUES_SHOWN_MAX = 5

function issueList(issues: readonly StandardSchemaV1.Issue[]): string {
  const shownIssues = issues.slice(0, ISSUES_SHOWN_MAX).map((issue) => {
    const path = issuePath(issue)
    return path === '' ? issue.message : `${path}: ${issue.message}`
  })
  const left = issues.length - shownIssues.length
  return left === 0 ? shownIssues.join('; ') : `${shownIssues.join('; ')}; and ${left} more`
}

function issuePath(issue: StandardSchemaV1.Issue): string {
  const keys = (issue.path ?? []).map((segment) => (typeof segment === 'object' ? segment.key : segment))
  return keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`
    return path === '' ? String(key) : `${path}.${String(key)}`
  }, '')
}
