import type { ComponentChildren } from 'preact'

interface HeadProps {
  readonly title: ComponentChildren
  /** What a viewer should know of this screen. */
  readonly children: ComponentChildren
  readonly aside?: ComponentChildren
}

/** The head of a screen. */
export function Head({ title, children, aside }: HeadProps) {
  return (
    <div class="head">
      <div class="grow">
        <h1>{title}</h1>
        <p>{children}</p>
      </div>
      {aside}
    </div>
  )
}
