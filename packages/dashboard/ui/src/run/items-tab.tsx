import { Link, useSearch } from 'wouter'
import { counted } from '../words.ts'
import { WhyItemsFail } from './item-errors.tsx'
import { Items } from './items.tsx'
import type { TabProps } from './tab.tsx'

/** The items of a map: all of them as a strip, why some fail, and what can be done about those. `?map=` says which map. */
export function ItemsTab(props: TabProps) {
  const { run } = props.page
  const asked = new URLSearchParams(useSearch()).get('map')
  const maps = run.steps.filter(({ items }) => items !== undefined)
  const step = maps.find(({ name }) => name === asked) ?? maps[0]
  if (step === undefined) return <p class="weak">This run has no maps.</p>
  return (
    <section class="map-items" key={step.name}>
      {maps.length > 1 && (
        <nav class="row" aria-label="Maps of this run">
          {maps.map(({ name }) => (
            <Link
              key={name}
              replace
              href={`/runs/${run.id}/items?map=${encodeURIComponent(name)}`}
              aria-current={name === step.name ? 'page' : undefined}
            >
              {name}
            </Link>
          ))}
        </nav>
      )}
      <h2 class="anywhere">
        {step.name} <span class="weak">{counted(step.items!.total, 'item')}</span>
      </h2>
      <Items runId={run.id} map={step.name} items={step.items!} />
      {step.kind === 'map' && <WhyItemsFail {...props} step={step} />}
    </section>
  )
}
