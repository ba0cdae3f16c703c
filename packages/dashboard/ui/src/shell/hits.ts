import { type GlyphState, glyphOf } from '@belay/graph-view'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'preact/hooks'
import { useLocation, useSearch } from 'wouter'
import type { Names } from '../../../src/api/names.ts'
import type { OfferedHere, RunLink, RunPage, RunsPage } from '../../../src/api.ts'
import { read } from '../api.ts'
import { addressOf, MANY } from '../repairs/asked.ts'
import { VERBS } from '../run/verbs.ts'
import { ID, searchOf, termsOf } from '../runs/filter.ts'
import { useNamedViews } from '../runs/saved-views.tsx'
import { SCREENS } from '../screens.ts'
import { wordOf } from '../status.ts'
import { nameOf } from '../words.ts'

export interface Hit {
  readonly name: string
  readonly about: string
  readonly state?: GlyphState
  /** Where it leads. */
  readonly to?: string
  /** The action of the run in sight whose dialog it opens. */
  readonly acts?: { readonly action: OfferedHere; readonly runId: string; readonly about: string }
}

const PLACES: readonly Hit[] = [
  ...SCREENS.map(({ to, name }) => ({ to, name, about: 'screen' })),
  { to: '/runs?status=failed', name: 'Failed runs', about: 'view' },
]

const TYPING_MS = 150
/** Of workflows and of steps. */
const NAMES_MAX = 6

/** What begins with a text comes before what only has it inside. */
export function useHits(text: string): readonly Hit[] {
  const runs = useRuns(text)
  const named = useNamedViews().map(({ name, query }) => ({ to: `/runs?${query}`, name, about: 'view' }))
  const [workflows, steps] = useNames(text)
  const here = useRunHere()
  const many = useRepairs()
  if (text === '') return [...here, ...PLACES, ...named]
  return [
    ...runs,
    ...matching(here, text),
    ...matching([...PLACES, ...named], text),
    ...workflows,
    ...steps,
    ...matching(many, text),
  ]
}

function matching(hits: readonly Hit[], text: string): readonly Hit[] {
  const wanted = text.toLowerCase()
  const placed = hits.map((hit) => [hit.name.toLowerCase().indexOf(wanted), hit] as const)
  const found = placed.filter(([place]) => place >= 0)
  return found.toSorted(([one], [other]) => Math.min(one, 1) - Math.min(other, 1)).map(([, hit]) => hit)
}

function useRuns(text: string): readonly Hit[] {
  const [asked, ask] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => ask(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  const { data } = useQuery({
    queryKey: ['palette', asked],
    queryFn: ({ signal }) => runsNamed(asked, signal),
    enabled: asked.length > 1,
  })
  return asked.length > 1 ? (data ?? []) : []
}

/** The run with this key first, then those whose keys begin so. */
async function runsNamed(text: string, signal: AbortSignal): Promise<readonly Hit[]> {
  const keyed = (key: string) =>
    read<RunsPage>(`runs?${new URLSearchParams({ key, limit: '6' })}`, signal).then(({ runs }) => runs)
  // A name that no run has would be an error of the network in the browser's console, with each letter typed: only ids are asked for by name.
  const answers = await Promise.allSettled([
    keyed(text),
    keyed(text.endsWith('*') ? text : `${text}*`),
    ...(ID.test(text) ? [read<RunPage>(`runs/${text}`, signal).then(({ run }) => [run])] : []),
  ])
  const found = answers.flatMap<RunLink>((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const byId = new Map(found.map((run) => [run.id, run]))
  return [...byId.values()].map((run) => ({
    to: `/runs/${run.id}`,
    name: nameOf(run),
    about: `${run.workflow}, ${wordOf(run.status).toLowerCase()}`,
    state: glyphOf(run.status),
  }))
}

function useNames(text: string): readonly [readonly Hit[], readonly Hit[]] {
  const { data } = useQuery({
    queryKey: ['names'],
    queryFn: ({ signal }) => read<Names>('names', signal),
  })
  const stored = data?.workflows ?? []
  const workflows = stored.map(({ name }) => ({
    to: `/runs?${new URLSearchParams({ workflow: name })}`,
    name,
    about: 'workflow, its runs',
  }))
  const steps = stored.flatMap(({ name: workflow, steps: names }) =>
    names.map((name) => ({
      to: `/versions/${encodeURIComponent(workflow)}`,
      name,
      about: `step of ${workflow}`,
    })),
  )
  return [matching(workflows, text).slice(0, NAMES_MAX), matching(steps, text).slice(0, NAMES_MAX)]
}

/** What may be done with the run in sight, and with its open steps. */
function useRunHere(): readonly Hit[] {
  const [place] = useLocation()
  const name = /^\/runs\/([^/]+)/.exec(place)?.[1]
  const { data } = useQuery({
    queryKey: ['palette run', name],
    queryFn: ({ signal }) => read<RunPage>(`runs/${name}`, signal),
    enabled: name !== undefined,
  })
  if (data === undefined) return []
  const { run, actions, open } = data
  const about = `${nameOf(run)}, ${run.workflow} v${run.version}`
  const offered = [...actions, ...open.flatMap((step) => step.actions)].filter(({ denied }) => !denied)
  return offered.map((action) => ({
    name: [VERBS[action.verb].button, action.step].filter(Boolean).join(' '),
    about: `this run, ${nameOf(run)}`,
    acts: { action, runId: run.id, about },
  }))
}

/** A verb for many runs: for those of the filter in sight. */
function useRepairs(): readonly Hit[] {
  const [place] = useLocation()
  const query = searchOf(termsOf(useSearch()))
  return Object.entries(MANY).map(([verb, { name }]) => ({
    to: addressOf({ verb: verb as keyof typeof MANY, ...(place === '/runs' && { query }) }),
    name,
    about: 'many runs',
  }))
}
