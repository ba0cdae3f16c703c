import { useEffect, useState } from 'preact/hooks'
import type { Row, State } from './state.ts'

/** The rows of `workflow_steps`; what has just changed flashes. Below, the statement that claimed. */
export function StoredRows({ state: { rows, statement } }: { readonly state: State }) {
  return (
    <section class="rows" aria-label="Rows of workflow_steps">
      <table>
        <thead>
          <tr>
            <th scope="col">step</th>
            <th scope="col">status</th>
            <th scope="col">worker</th>
            <th scope="col">attempt</th>
            <th scope="col">fence</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <StoredRow key={row.step} row={row} />
          ))}
        </tbody>
      </table>
      {statement && (
        <details>
          <summary>
            The newest claim, of worker {statement.client}: {statement.ms.toFixed(1)} ms, with{' '}
            <code>FOR UPDATE SKIP LOCKED</code>
          </summary>
          <pre tabIndex={0}>{statement.text.trim()}</pre>
        </details>
      )}
    </section>
  )
}

function StoredRow({ row }: { readonly row: Row }) {
  const text = JSON.stringify(row)
  const [before, setBefore] = useState(text)
  useEffect(() => {
    if (before === text) return
    const timer = setTimeout(() => setBefore(text), 900)
    return () => clearTimeout(timer)
  }, [text, before])
  return (
    <tr class={before === text ? '' : 'flash'}>
      <td>{row.step}</td>
      <td>{row.status}</td>
      <td>{row.worker}</td>
      <td>{row.attempts}</td>
      <td>{row.fence}</td>
    </tr>
  )
}
