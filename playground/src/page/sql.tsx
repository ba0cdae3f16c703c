import { useState } from 'preact/hooks'
import type { Playground } from './state.ts'

const SHOWN_MAX = 50

type Row = Readonly<Record<string, unknown>>

/** The reader's own SQL on the very database. */
export function Sql({ playground }: { readonly playground: Playground }) {
  const [text, setText] = useState('select workflow, key, status from belay.workflow_run_overview limit 5')
  const [answer, setAnswer] = useState<readonly Row[] | string>()
  const [isAsking, setAsking] = useState(false)
  const run = async () => {
    setAsking(true)
    try {
      setAnswer(await playground.sql<Row>(text))
    } catch (error) {
      setAnswer(error instanceof Error ? error.message : String(error))
    }
    setAsking(false)
  }
  return (
    <section class="sql" aria-label="SQL">
      <textarea
        aria-label="SQL on this database"
        spellcheck={false}
        rows={3}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="button" class="button" onClick={() => void run()}>
        Run
      </button>
      {isAsking && (
        <span class="weak" role="status">
          Asking…
        </span>
      )}
      {typeof answer === 'string' && (
        <p class="s-failed" role="alert">
          {answer}
        </p>
      )}
      {typeof answer === 'object' && <Rows rows={answer} />}
    </section>
  )
}

function Rows({ rows }: { readonly rows: readonly Row[] }) {
  const [first] = rows
  if (first === undefined) return <p role="status">No row.</p>
  const columns = Object.keys(first)
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Answer">
      <table>
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
    </div>
  )
}

function shown(value: unknown): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
