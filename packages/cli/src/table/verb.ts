import type { Completes, FlagName } from './flags.ts'

/** One verb of the command line, without its code, which `verbs/index.ts` loads. Help, completion, the reference in the docs and the tools of `belay mcp` are made from these. */
export interface Verb {
  /** As it is typed: `list`, or `undo retry` for a verb of a family. */
  readonly name: string
  readonly group: Group
  /** A few words, without a full stop: the line in lists of verbs. */
  readonly summary: string
  /** Sentences: what it does, what it answers, when it refuses. */
  readonly about: string
  readonly args?: readonly Arg[]
  /** Besides those that every verb takes. A pair says what the flag means here. */
  readonly flags?: readonly (FlagName | readonly [FlagName, string])[]
  /** Each runs as it stands on the store that the tests make. */
  readonly examples: readonly Example[]
  /** `write`: it changes the store. `local`: it is about this machine, and no tool for others. */
  readonly access: 'read' | 'write' | 'local'
}

export type Group = 'see' | 'act' | 'undo' | 'operate' | 'set up'

export interface Arg {
  readonly name: string
  readonly about: string
  /** Default false: the argument is required. */
  readonly optional?: boolean
  /** Takes the rest of the arguments. */
  readonly many?: boolean
  readonly completes?: Completes
}

export interface Example {
  /** Without `belay`. */
  readonly command: string
  readonly about: string
}
