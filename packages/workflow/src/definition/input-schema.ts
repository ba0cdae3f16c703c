import type { StandardSchemaV1 } from '@standard-schema/spec'
import { BelayError, DefinitionError } from '../errors.ts'
import { shown } from './option-check.ts'

/**
 * A schema that believes everything: `define('import', { version: 1, input: unchecked<Batch>() })` types the input without checking it.
 */
export function unchecked<Input>(): StandardSchemaV1<Input, Input> {
  return {
    '~standard': { version: 1, vendor: 'belay', validate: (value) => ({ value: value as Input }) },
  }
}

/** Refuses what is no Standard Schema. */
export function checkSchema(workflow: string, schema: unknown): void {
  // Some libraries' schemas are functions.
  const standard: unknown =
    (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
      ? (schema as Partial<StandardSchemaV1>)['~standard']
      : undefined
  if (typeof (standard as StandardSchemaV1.Props | undefined)?.validate === 'function') return
  throw new DefinitionError(
    `Workflow "${workflow}": input is ${shown(schema)}, which is not a Standard Schema. Give a schema of zod, valibot, arktype or another library that follows standardschema.dev, or unchecked<Type>().`,
  )
}

/**
 * Checks an input and returns what the schema makes of it; a promise only when there is a schema.
 *
 * @throws BelayError `invalid_input` that lists what is wrong; its `cause` is an error with the schema's `issues`, or what the schema threw.
 */
export function validateInput(
  workflow: string,
  schema: StandardSchemaV1 | undefined,
  input: unknown,
): unknown {
  return schema === undefined ? input : validated(workflow, schema, input)
}

async function validated(workflow: string, schema: StandardSchemaV1, input: unknown): Promise<unknown> {
  const result = await runSchema(workflow, schema, input)
  if (result.issues === undefined) return result.value
  throw new BelayError(
    'invalid_input',
    `The input for workflow "${workflow}" is not valid: ${issueList(result.issues)}. Nothing was started.`,
    { cause: new InputIssues(result.issues) },
  )
}

async function runSchema(
  workflow: string,
  schema: StandardSchemaV1,
  input: unknown,
): Promise<StandardSchemaV1.Result<unknown>> {
  try {
    return await schema['~standard'].validate(input)
  } catch (cause) {
    throw new BelayError(
      'invalid_input',
      `The schema of workflow "${workflow}" threw while it checked an input: ${cause instanceof Error ? cause.message : String(cause)}. Nothing was started.`,
      { cause },
    )
  }
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
