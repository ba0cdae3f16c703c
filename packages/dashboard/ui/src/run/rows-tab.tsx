import type { Rows } from '../../../src/api.ts'
import { useLive } from '../live.ts'
import { Copy } from '../shell/copy.tsx'
import { Code } from './code.tsx'
import type { TabProps } from './tab.tsx'

/** The run as SQL: queries to paste into psql. */
export function RowsTab({ page: { run } }: TabProps) {
  const { data } = useLive<Rows>(`runs/${run.id}/rows`)
  return (
    <section class="payloads">
      <p class="weak">All that Belay knows of this run is in these rows. Paste a query into psql.</p>
      {data?.queries.map(({ title, sql }) => (
        <details key={title} open>
          <summary>{title}</summary>
          <Code>{sql}</Code>
          <Copy text={sql} of={title} />
        </details>
      ))}
    </section>
  )
}
