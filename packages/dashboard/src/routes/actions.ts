import { type ActionOptions, BelayError, type RunSummary } from '@belay/workflow'
import { foresee } from '../actions/foresee.ts'
import { perform } from '../actions/perform.ts'
import { actionIn } from '../actions/request.ts'
import type { ActionRequest, ActionResult } from '../api.ts'
import { CAPABILITY_OF } from '../capabilities.ts'
import { notAllowed, notFound, withoutCredentials } from '../problem.ts'
import { bodyOfWrite } from '../security.ts'
import { type App, assertMay, idIn, queryOf, type Served } from '../served.ts'

/** Acts on one run, or tells what an action would do. */
export function routeActions(app: App, served: Served): void {
  app
    .post('/api/runs/:id/actions', async (call) => {
      queryOf(call, [])
      const action = actionIn(await bodyOfWrite(call.req.raw))
      assertMay(call, CAPABILITY_OF[action.verb])
      const id = idIn(call)
      const [run] = await served.engine.runs.list({ idPrefix: id, limit: 1 })
      if (run === undefined) throw notFound('No run has this id.')
      return Response.json(await answerTo(served, run, action, call.env.by))
    })
    .all(() => {
      throw notAllowed('POST')
    })
}

async function answerTo(
  served: Served,
  run: RunSummary,
  action: ActionRequest,
  by: string,
): Promise<ActionResult> {
  const { engine } = served
  try {
    if (action.dryRun) return await foresee(engine, run, action)
    const who: ActionOptions & { readonly by: string } = { by, reason: action.reason }
    return await perform(engine, run, action, who)
  } catch (error) {
    // The engine's no is an answer.
    if (!BelayError.is(error) || !REFUSALS.has(error.code)) throw error
    const sentence = withoutCredentials(error.message)
    return { changed: false, sentence, refused: error.code, ...issuesIn(error) }
  } finally {
    if (!action.dryRun) served.shared.clear()
  }
}

const REFUSALS: ReadonlySet<string> = new Set([
  'action_refused',
  'decision_conflict',
  'key_conflict',
  'invalid_input',
])

const ISSUES_MAX = 20

/** What a Standard Schema found in a payload, for its field. */
function issuesIn({ cause }: BelayError): Pick<ActionResult, 'issues'> {
  const { issues } = Object(cause) as { readonly issues?: readonly Issue[] }
  if (!Array.isArray(issues)) return {}
  return {
    issues: issues.slice(0, ISSUES_MAX).map(({ path = [], message }) => ({ path: pathOf(path), message })),
  }
}

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[]
}

/** `items[0].count` */
function pathOf(path: NonNullable<Issue['path']>): string {
  return path
    .map((part) => (typeof part === 'object' ? part.key : part))
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${String(key)}`))
    .join('')
}
