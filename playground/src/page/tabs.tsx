import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

export interface Tab {
  readonly name: string
  readonly children: ComponentChildren
}

/** One of several panels is shown; the others keep what was typed into them. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const [shown, setShown] = useState(0)
  const go = (event: KeyboardEvent & { readonly currentTarget: Element }) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined) return
    const to = (shown + by + tabs.length) % tabs.length
    setShown(to)
    event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[to]?.focus()
  }
  return (
    <section class="panels" aria-label={label}>
      <div class="tab-list" role="tablist" aria-label={label} tabIndex={-1} onKeyDown={go}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${index}`}
            aria-selected={index === shown}
            aria-controls={`panel-${index}`}
            tabIndex={index === shown ? 0 : -1}
            onClick={() => setShown(index)}
          >
            {name}
          </button>
        ))}
      </div>
      {tabs.map(({ name, children }, index) => (
        <div
          key={name}
          class="panel scroll"
          role="tabpanel"
          id={`panel-${index}`}
          aria-labelledby={`tab-${index}`}
          hidden={index !== shown}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
          tabIndex={0}
        >
          {children}
        </div>
      ))}
    </section>
  )
}
