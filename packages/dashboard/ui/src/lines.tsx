import type { ComponentChildren } from 'preact'

interface LinesProps {
  /** For screen readers. */
  readonly caption: string
  readonly columns: readonly string[]
  /** The name of one more column, for screen readers alone. */
  readonly last?: string
  readonly class?: string
  /** Its rows. */
  readonly children: ComponentChildren
}

/** A table whose rows become blocks on a narrow screen. */
export function Lines({ caption, columns, last, class: looks = '', children }: LinesProps) {
  return (
    <table class={`lines ${looks}`}>
      <caption class="sr">{caption}</caption>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name}>{name}</th>
          ))}
          {last && (
            <th>
              <span class="sr">{last}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
