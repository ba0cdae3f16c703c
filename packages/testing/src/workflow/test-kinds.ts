import type { EngineOptions, RunOptions, WorkflowDefinition } from '@belay/workflow'
import { checkArgument, type Kind, Refusal, shown } from '@belay/workflow/adapter'

const MADE = 'made by define() or defineGraph()'

const DEFINITION: Kind<WorkflowDefinition> = {
  words: `a workflow ${MADE}`,
  read: (given) => (isDefinition(given) ? given : new Refusal(shown(given))),
}

/** Definitions of children. */
export const definitions: Kind<readonly WorkflowDefinition[]> = {
  words: `an array of workflows ${MADE}`,
  read(given) {
    const list: readonly unknown[] = Array.isArray(given) ? Array.from(given) : [undefined]
    return list.every(isDefinition) ? list : new Refusal(shown(given))
  },
}

/** The first instant of virtual time. */
export const date: Kind<Date> = {
  words: 'a valid Date',
  read: (given) =>
    given instanceof Date && !Number.isNaN(given.getTime()) ? given : new Refusal(shown(given)),
}

/** Options that others check. */
export const runOptions = copied<Omit<RunOptions, 'tx'>>('an object with options of run()')
export const engineOptions = copied<Partial<EngineOptions>>('an object with options of createEngine()')

/** Read once, here: an object may refuse to be read. */
function copied<Options extends object>(words: string): Kind<Options> {
  return {
    words,
    read: (given) =>
      typeof given === 'object' && given !== null ? ({ ...given } as Options) : new Refusal(shown(given)),
  }
}

/** Throws `invalid_option` for anything but a definition. */
export function checkTested<Definition extends WorkflowDefinition>(
  call: string,
  given: Definition,
): Definition {
  return checkArgument(call, 'the workflow', given, DEFINITION) as Definition
}

function isDefinition(given: unknown): given is WorkflowDefinition {
  try {
    return typeof (given as WorkflowDefinition).record.checksum === 'string'
  } catch {
    return false
  }
}
