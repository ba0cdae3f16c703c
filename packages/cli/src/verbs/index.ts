import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'

export interface VerbModule {
  /** Resolves to the exit status; nothing means 0. */
  run(call: Call): Promise<ExitStatus | undefined>
}

/** By the first word of a verb's name. Each is loaded when it is called: help and completion need none. */
const MODULES: Readonly<Record<string, () => Promise<VerbModule>>> = {
  '': () => import('./home.ts'),
  list: () => import('./list.ts'),
  show: () => import('./show.ts'),
  items: () => import('./items.ts'),
  watch: () => import('./watch.ts'),
  explain: () => import('./explain.ts'),
  history: () => import('./history.ts'),
  export: () => import('./export.ts'),
  approvals: () => import('./approvals.ts'),
  graph: () => import('./graph.ts'),
  run: () => import('./run.ts'),
  signal: () => import('./signal.ts'),
  approve: () => import('./decide.ts'),
  reject: () => import('./decide.ts'),
  pause: () => import('./steer.ts'),
  resume: () => import('./steer.ts'),
  cancel: () => import('./steer.ts'),
  retry: () => import('./retry.ts'),
  skip: () => import('./skip.ts'),
  priority: () => import('./priority.ts'),
  move: () => import('./move.ts'),
  undo: () => import('./undo.ts'),
  limits: () => import('./limits.ts'),
  schedules: () => import('./schedules.ts'),
  doctor: () => import('./doctor.ts'),
  workers: () => import('./workers.ts'),
  prune: () => import('./prune.ts'),
  migrate: () => import('./migrate.ts'),
  init: () => import('./init.ts'),
  dashboard: () => import('./dashboard.ts'),
  completion: () => import('./completion.ts'),
  mcp: () => import('./mcp.ts'),
}

/** The code of a verb of the table. */
export function loadVerb(name: string): Promise<VerbModule> {
  return MODULES[name.split(' ', 1)[0]!]!()
}
