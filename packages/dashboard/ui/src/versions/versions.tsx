import { Link, useSearch } from 'wouter'
import type { VersionsPage, WorkflowVersions } from '../../../src/api/versions.ts'
import { Answer, Blank } from '../answer.tsx'
import { Head } from '../head.tsx'
import { Lines } from '../lines.tsx'
import { useLive } from '../live.ts'
import { nameInPath } from '../path.ts'
import { zone } from '../settings.ts'
import { useCell } from '../stored.ts'
import { counted, fullInstant, instant } from '../words.ts'
import { Diff } from './diff.tsx'
import { LiveRuns, Workers } from './version.tsx'

/** Workflows with their versions: all of them, or one with what differs. */
export function Versions({ name }: { readonly name: string | undefined }) {
  useCell(zone)
  return name === undefined ? <List /> : <Diff workflow={nameInPath()} />
}

/** Of each workflow, in the list. */
const SHOWN = 5

function List() {
  const search = useSearch()
  const page = useLive<VersionsPage>(`versions${search && `?${search}`}`)
  return (
    <>
      <Head title="Versions">A run keeps the version that it was started with, until somebody moves it.</Head>
      <Answer of={page}>
        {({ workflows, more, readAt }: VersionsPage) =>
          workflows.length === 0 ? (
            <Blank state="pending" title="No workflow is stored">
              <p>A workflow is stored when a worker that has it starts, or with its first run.</p>
            </Blank>
          ) : (
            <>
              <Listed workflows={workflows} now={readAt} />
              {more && (
                <p class="pager">
                  <Link class="button" href={`/versions?after=${encodeURIComponent(workflows.at(-1)!.name)}`}>
                    Next
                  </Link>
                </p>
              )}
            </>
          )
        }
      </Answer>
    </>
  )
}

function Listed({
  workflows,
  now,
}: {
  readonly workflows: readonly WorkflowVersions[]
  readonly now: number
}) {
  return (
    <Lines
      caption="Workflows by name, the newest version first"
      columns={['Workflow', 'Version', 'First stored', 'Live runs', 'Live workers that have it']}
    >
      {workflows.flatMap(({ name, versions, stored }) =>
        versions.slice(0, SHOWN).map((version, index) => (
          <tr key={`${name} ${version.version}`}>
            <td class="wrap">
              {index === 0 && (
                <Link class="run-link" href={`/versions/${encodeURIComponent(name)}`}>
                  {name}
                </Link>
              )}
              {index === SHOWN - 1 && stored > SHOWN && (
                <span class="weak">and {counted(stored - SHOWN, 'older version')}</span>
              )}
            </td>
            <td>
              <b>v{version.version}</b>
            </td>
            <td data-label="stored">
              <time title={fullInstant(version.createdAt)}>{instant(version.createdAt, now)}</time>
            </td>
            <td>
              <LiveRuns workflow={name} version={version} />
            </td>
            <td class="wrap" data-label="workers:">
              <Workers version={version} />
            </td>
          </tr>
        )),
      )}
    </Lines>
  )
}
