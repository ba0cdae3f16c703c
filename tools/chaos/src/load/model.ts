import type { RunFacts } from '../oracle/facts.ts'
import type { ExpectedStep } from '../oracle/rules.ts'
import type { Input } from './input.ts'
import { BAD_PHOTO, type Plan, photosOf, planOf } from './plan.ts'

type Expected = Readonly<Record<string, ExpectedStep>>

/** What a completed run of these workflows must have come to, computed from its input alone. */
export function expectedOf({ workflow, input }: Pick<RunFacts, 'workflow' | 'input'>): Expected | undefined {
  if (workflow === 'gallery') return galleryOf(planOf(input as Input))
  if (workflow === 'checkout') return checkoutOf(input as Input)
  if (workflow === 'delivery') return { handOver: completed(parcelsOf(planOf(input as Input))) }
  return undefined
}

function galleryOf(plan: Plan): Expected {
  const photos = photosOf(plan)
  const isBad = (photo: string) => plan.hasBadPhoto && photo === BAD_PHOTO
  const small = photos.map((photo) => `small ${photo}`)
  const uploaded = photos.map((photo, index) => (isBad(photo) ? 'failed' : `${small[index]}, uploaded`))
  return {
    fetch: completed({ photos }),
    ...Object.fromEntries(
      photos.flatMap((photo, index) => [
        [`resize[${photo}]`, completed(small[index])],
        [`upload[${photo}]`, isBad(photo) ? { status: 'failed' } : completed(uploaded[index])],
      ]),
    ),
    resize: completed(small),
    layout: completed(plan.layout),
    grid: { status: plan.layout === 'grid' ? 'completed' : 'skipped' },
    list: { status: plan.layout === 'list' ? 'completed' : 'skipped' },
    review: { status: plan.hasBadPhoto ? 'completed' : 'skipped' },
    index: completed({ uploaded, layouts: 1, reviewed: plan.hasBadPhoto }),
  }
}

function checkoutOf(input: Input): Expected {
  const plan = planOf(input)
  return {
    charge: { status: plan.declines ? 'failed' : 'completed' },
    invoice: { status: plan.declines ? 'completed' : 'skipped' },
    quotes: { status: 'completed' },
    deliver: { status: 'completed' },
    subscribe: { status: 'completed' },
    capture: { status: 'completed' },
    record: { status: plan.afterPivot === 'is skipped' ? 'skipped' : 'completed' },
    thank: completed({ paid: plan.declines ? 'by invoice' : 'by card', delivered: parcelsOf(plan) }),
  }
}

function parcelsOf({ parcels }: Plan): readonly string[] {
  return Array.from({ length: parcels }, (_, index) => `parcel ${index}`)
}

function completed(output: unknown): ExpectedStep {
  return { status: 'completed', output }
}
