import { useState } from 'preact/hooks'
import { Refusal, useAsked } from './asked.tsx'
import { Scroll } from './scroll.tsx'
import type { Playground } from './state.ts'

const SHOWN_MAX = 50

type Row = Readonly<Record<string, unknown>>

/** The reader's own SQL on the very database. */
export function Sql({ playground }: { readonly playground: Playground }) {
  const [text, setText] = useState('select workflow, key, status from belay.workflow_run_overview limit 5')
  const [rows, setRows] = useState<readonly Row[]>()
  const [isAsking, setAsking] = useState(false)
  const [answers, setAnswers] = useState(0)
  const { refusal, ask } = useAsked()
  const run = async () => {
    setAsking(true)
    setRows(undefined)
    await ask(async () => setRows(await playground.sql<Row>(text)))
    setAsking(false)
    setAnswers((count) => count + 1)
  }
  return (
    <section class="sql" aria-label="SQL" data-answers={answers}>
      <textarea
        aria-label="SQL on this database"
        spellcheck={false}
        rows={3}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && void run()}
      />
      <div class="bar">
        <button type="button" class="button" onClick={() => void run()}>
          Run
        </button>
        <span class="weak">Ctrl Enter</span>
        {isAsking && (
          <span class="weak" role="status">
            Asking…
          </span>
        )}
      </div>
      <Refusal of={refusal} />
      {rows && <Rows rows={rows} />}
    </section>
  )
}

function Rows({ rows }: { readonly rows: readonly Row[] }) {
  const [first] = rows
  if (first === undefined) return <p role="status">No row.</p>
  const columns = Object.keys(first)
  return (
    <Scroll label="Answer">
      <table class="stored">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN_MAX).map((row, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column}>{shown(row[column])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > SHOWN_MAX && <p>And {rows.length - SHOWN_MAX} more.</p>}
    </Scroll>
  )
}

function shown(value: unknown): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
