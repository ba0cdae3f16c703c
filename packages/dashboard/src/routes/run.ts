import type { Explanation, RunSnapshot, RunSummary, WorkflowStep } from '@belay/workflow'
import type { OfferedHere, OpenStep, RunLink, RunPage } from '../api.ts'
import { CAPABILITY_OF, isVerb } from '../capabilities.ts'
import { notAllowed, notFound } from '../problem.ts'
import { onlyOne } from '../query.ts'
import { type App, type Call, ID, queryOf, runNamed, type Served } from '../served.ts'
import { historyEntry } from '../view/history.ts'
import { Revisions } from '../view/revisions.ts'
import type { Texts } from '../view/texts.ts'
import { effectsOf, hasEnded, whyEnded, whyOpen } from '../view/why.ts'
import { viewRun } from '../view-run.ts'

const ATTEMPTS_MAX = 2_000
const CHILDREN_MAX = 100

export function routeRun(app: App, served: Served): void {
  const revisions = new Revisions()
  app
    .get('/api/runs/:name', async (call) => {
      const seen = onlyOne('seen', queryOf(call, ['seen']).seen)
      const name = call.req.param('name')
      // By its id: a run has as many names as its address has spellings.
      const { id } = ID.test(name)
        ? { id: name.toLowerCase() }
        : await served.read(call, `named ${name}`, () => runNamed(served.engine, name))
      const read = async (texts: Texts) => {
        const page = await pageOf(served, id, texts)
        return { page, revision: revisions.next(`${texts.isShown} ${id}`, page.run.steps) }
      }
      const { page, revision } = await served.read(call, `run ${id}`, read)
      const answer = { ...forViewer(page, call), revision: revisions.nameOf(revision) }
      const steps = seen === undefined ? undefined : revisions.changed(page.run.steps, revision, seen)
      return Response.json(
        steps === undefined ? answer : { ...answer, since: seen, run: { ...page.run, steps } },
      )
    })
    .all(() => {
      throw notAllowed('GET')
    })
}

/** The page as all viewers share it: what each of them may do is told afterwards. */
type SharedPage = Omit<RunPage, 'actions' | 'open' | 'revision'> & {
  readonly actions: readonly Offer[]
  readonly open: readonly (Omit<OpenStep, 'actions'> & { readonly actions: readonly Offer[] })[]
}

function forViewer(page: SharedPage, call: Call): Omit<RunPage, 'revision'> {
  const offered = (actions: readonly Offer[]) =>
    actions.flatMap((action) => offeredHere(action, page.run.id, call))
  return {
    ...page,
    actions: offered(page.actions),
    open: page.open.map((step) => ({ ...step, actions: offered(step.actions) })),
  }
}

/** The dashboard does not do all that the engine offers. */
function offeredHere({ verb, step, run }: Offer, own: string, { env }: Call): readonly OfferedHere[] {
  if (!isVerb(verb)) return []
  const other = run === own ? undefined : run
  return [{ verb, step, run: other, denied: !env.can.has(CAPABILITY_OF[verb]) }]
}

async function pageOf(served: Served, id: string, texts: Texts): Promise<SharedPage> {
  const { runs } = served.engine
  const [run, attempts, history, explanation, children] = await Promise.all([
    runs.get(id),
    runs.attempts(id, { limit: ATTEMPTS_MAX }),
    runs.history(id),
    served.engine.explain(id, { quote: texts.quote }),
    runs.list({ parentId: id, limit: CHILDREN_MAX }),
  ])
  if (run === undefined) throw notFound('This run is not stored any more.')
  const [graph, parents] = await Promise.all([
    served.graph(run.workflow, run.version),
    run.parentId === undefined ? [] : runs.list({ idPrefix: run.parentId, limit: 1 }),
  ])
  const childIds = childIdsOf(graph, explanation, children)
  return {
    run: viewRun(run, graph, attempts, history, { texts, childIds }),
    tags: run.tags,
    priority: run.priority,
    deadlineAt: run.deadlineAt?.getTime(),
    why: hasEnded(run) ? whyEnded(run, texts) : whyOpen(explanation),
    open: explanation.steps.map(({ step, reason, sentence, until, actions }) => ({
      ...{ step, reason, sentence, actions, until: until?.getTime() },
    })),
    actions: actionsOn(run, explanation),
    effects: effectsOf(run),
    history: history.map((entry) => historyEntry(entry, graph)),
    parent: parents.map(linkTo)[0],
    children: children.map(linkTo),
  }
}

/** What the engine offers, and a priority, which no explanation offers. */
interface Offer {
  readonly verb: string
  readonly step?: string
  readonly run?: string
}

const FORWARD: ReadonlySet<string> = new Set(['scheduled', 'running', 'waiting', 'parked'])

/** Of a run that has ended, the engine says what sends it forward again. Until then it takes these in these states. */
function actionsOn({ status, cause }: RunSnapshot, explanation: Explanation): readonly Offer[] {
  const isForward = FORWARD.has(status) || (status === 'paused' && cause === undefined)
  const verbs: string[] = []
  if (status === 'paused') verbs.push('resume')
  else if (isForward || status === 'compensating' || status === 'compensation_failed') verbs.push('pause')
  if (isForward) verbs.push('cancel', 'setPriority')
  return [...verbs.map((verb) => ({ verb })), ...explanation.actions]
}

/** The engine tells the child of each open step. If only one step starts runs, all children are its. */
function childIdsOf(
  graph: readonly WorkflowStep[],
  { steps }: Explanation,
  [newest]: readonly RunSummary[],
): ReadonlyMap<string, string> {
  const [starts, ...others] = graph.filter(({ children }) => children)
  const only = starts !== undefined && others.length === 0 && newest !== undefined
  return new Map([
    ...(only ? [[starts.name, newest.id] as const] : []),
    ...steps.flatMap(({ step, childRunId }) =>
      childRunId === undefined ? [] : [[step, childRunId] as const],
    ),
  ])
}

function linkTo({ id, workflow, key, status }: RunSummary): RunLink {
  return { id, workflow, key, status }
}
