import { useEffect, useState } from 'preact/hooks'
import type { Row, State } from './model.ts'

const MARKED_MS = 900

/** The rows of `workflow_steps` of the selected run; what has just changed flashes. */
export function StoredRows({ state: { rows } }: { readonly state: State }) {
  if (rows.length === 0) return <p class="weak">The rows of the selected run stand here.</p>
  return (
    <table class="stored">
      <caption class="sr">Rows of workflow_steps</caption>
      <thead>
        <tr>
          {['step', 'status', 'worker', 'attempt', 'fence'].map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <StoredRow key={row.step} row={row} />
        ))}
      </tbody>
    </table>
  )
}

function StoredRow({ row }: { readonly row: Row }) {
  const text = JSON.stringify(row)
  const [before, setBefore] = useState(text)
  useEffect(() => {
    if (before === text) return
    const timer = setTimeout(() => setBefore(text), MARKED_MS)
    return () => clearTimeout(timer)
  }, [text, before])
  return (
    <tr class={before === text ? '' : 'flash'}>
      <th scope="row">{row.step}</th>
      <td>{row.status}</td>
      <td>{row.worker}</td>
      <td>{row.attempts}</td>
      <td>{row.fence}</td>
    </tr>
  )
}
