import { FILTERS } from './flags.ts'
import type { Arg, Verb } from './verb.ts'

export const RUN: Arg = {
  name: 'run',
  about: 'a key like order:9184, workflow/key, an id, or its first 8 digits',
  completes: 'runs',
}

export const SEE: readonly Verb[] = [
  {
    name: 'list',
    group: 'see',
    summary: 'newest first',
    about:
      'Lists runs, newest first, with the conditions that you give. An empty list says which condition left nothing.',
    flags: [...FILTERS, ['limit', 'at most this many, 1 to 1,000; default 20'], 'before', 'after'],
    examples: [
      { command: 'list', about: 'the newest runs' },
      { command: 'list --status waiting --tag tenant:7', about: 'those of a tenant that wait' },
      {
        command: 'list --status failed,compensated --since 2h --json --fields id,key',
        about: 'for a script',
      },
    ],
    access: 'read',
    load: () => import('../verbs/list.ts'),
  },
]
