import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { watchAnswer } from '../../thenable.ts'
import { checkDefinition } from '../base/definition-argument.ts'
import { RUN_OPTIONS } from './checked-run.ts'
import type { RunOptions } from './run-options.ts'

/** The arguments after the workflow in `run()`: its input, optional if it may be undefined, and options. */
export type RunArguments<Input> = undefined extends Input
  ? [input?: Input, options?: RunOptions]
  : [input: Input, options?: RunOptions]

/** One run of `runMany()`: its input, optional if it may be undefined, and its options. */
export type NewRunOf<Input> = Omit<RunOptions, 'tx'> &
  (undefined extends Input ? { readonly input?: Input } : { readonly input: Input })

/**
 * Refuses options that stand where the input belongs. A workflow without an input schema takes any input, so it would store them: the run would lose
 * its key, and its start would not be part of the caller's transaction.
 */
export function refuseOptionsAsInput(workflow: WorkflowDefinition, input: unknown): void {
  const names = optionNamesIn(input)
  if (names.length > 0) checkDefinition('run()', workflow)
  // A schema decides by itself what an input is.
  if (names.length === 0) return
  const valid = workflow.validate(input)
  // It is checked again by the call, which tells its failure.
  if (valid !== input) return void watchAnswer(valid)
  const given = names.join(', ')
  throw new BelayError(
    'invalid_option',
    `run() of workflow "${workflow.name}" was given an object with ${given} as the input, and no options. Options come third: run(workflow, undefined, { ${given} }). If this is the input, declare it with \`input\` in define(), or give {} as the options.`,
  )
}

/** The names of an object that has nothing but options. */
function optionNamesIn(input: unknown): readonly string[] {
  if (typeof input !== 'object' || input === null) return []
  try {
    const names = Object.keys(input)
    return names.every((name) => name in RUN_OPTIONS) ? names : []
  } catch {
    return []
  }
}
