import type { ComponentChildren } from 'preact'

interface StepProps {
  readonly number: number
  readonly title: string
  /** `off`: others come first. */
  readonly state: 'done' | 'now' | 'off'
  readonly children?: ComponentChildren
}

/** One of the five steps of a repair. */
export function Step({ number, title, state, children }: StepProps) {
  return (
    <li class={state} aria-current={state === 'now' ? 'step' : undefined}>
      <span class="number" aria-hidden="true">
        {number}
      </span>
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </li>
  )
}
