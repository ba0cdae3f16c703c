import type { RunSummary, RunsMatching } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { filterOf } from '../runs/filter.ts'
import { runNamed, shortIds } from '../runs/names.ts'
import type { Store } from '../store/store.ts'
import type { Column, Output } from '../terminal/output.ts'
import { safe } from '../terminal/text.ts'
import { ago } from '../terminal/time.ts'

const LIMIT_DEFAULT = 20

/** `belay list`. */
export async function run({ connect, flags, out }: Call): Promise<ExitStatus | undefined> {
  const store = await connect()
  const filter = await filterOf(store, flags)
  const limit = flags.limit ?? LIMIT_DEFAULT
  const [before, after] = [await idOf(store, flags.before), await idOf(store, flags.after)]
  const runs = await store.engine.runs.list({ ...filter, limit, before, after })
  const columns = runColumns(out, runs)
  const next = runs.length === limit ? runs.at(-1)!.id : null
  if (out.json) {
    out.document({ runs: out.objects(columns, runs), next })
    return
  }
  if (runs.length === 0) {
    out.note(await whyEmpty(store, filter))
    return
  }
  if (out.plain && out.fields === undefined) for (const each of runs) out.line(sentenceOf(each))
  else out.table(columns, runs)
  if (next !== null) out.note(`Older: belay list --before ${next}`)
  return
}

async function idOf(store: Store, name: string | undefined): Promise<string | undefined> {
  return name === undefined ? undefined : (await runNamed(store, name)).id
}

function sentenceOf({ id, key, workflow, status, createdAt, readAt }: RunSummary): string {
  const named = key === undefined ? '' : `, key ${safe(key)},`
  return `Run ${id} of "${safe(workflow)}"${named} is ${status}. It was created ${ago(createdAt, readAt)}.`
}

/** What lists of runs show. */
export function runColumns(out: Output, runs: readonly RunSummary[]): readonly Column<RunSummary>[] {
  const short = shortIds(runs.map(({ id }) => id))
  return [
    { field: 'status', shown: ({ status }) => out.status(status), value: ({ status }) => status },
    { field: 'id', title: 'RUN', shown: ({ id }) => short(id), value: ({ id }) => id },
    { field: 'key', shown: ({ key }) => safe(key ?? ''), value: ({ key }) => key },
    { field: 'workflow', shown: ({ workflow }) => safe(workflow), value: ({ workflow }) => workflow },
    {
      field: 'createdAt',
      title: 'CREATED',
      shown: ({ createdAt, readAt }) => ago(createdAt, readAt),
      value: ({ createdAt }) => createdAt,
    },
    {
      field: 'version',
      hidden: true,
      shown: ({ version }) => `v${version}`,
      value: ({ version }) => version,
    },
    { field: 'tags', hidden: true, shown: ({ tags }) => safe(tags.join(' ')), value: ({ tags }) => tags },
    {
      field: 'finishedAt',
      hidden: true,
      title: 'ENDED',
      shown: ({ finishedAt, readAt }) => (finishedAt === undefined ? '' : ago(finishedAt, readAt)),
      value: ({ finishedAt }) => finishedAt,
    },
  ]
}

/** Which of the conditions emptied the list: without it, runs match. */
async function whyEmpty({ engine }: Store, filter: RunsMatching): Promise<string> {
  const names = Object.keys(filter) as (keyof RunsMatching)[]
  if (names.length === 0) return 'There are no runs yet.'
  const without: string[] = []
  for (const name of names.length > 1 ? names : []) {
    const { [name]: _, ...others } = filter
    const { count, capped } = await engine.runs.count({ ...others, max: 1_000 })
    without.push(`Without --${FLAG_OF[name] ?? name}: ${count}${capped ? '+' : ''}.`)
  }
  return ['No run matches.', ...without].join(' ')
}

const FLAG_OF: Readonly<Record<string, string>> = {
  keyPrefix: 'key',
  tags: 'tag',
  waitingFor: 'waiting-for',
  createdAfter: 'since',
  createdBefore: 'until',
}
