import { define, PermanentError, unchecked } from '@belay/workflow'
import type { Hands } from './hands.ts'
import type { Input } from './input.ts'
import { BAD_PHOTO, PHOTOS_PER_ROUND, planOf } from './plan.ts'
import { RETRY } from './retry.ts'

/** The most photos that are resized at a time. */
export const RESIZED_AT_ONCE_MAX = 2

/** A loop that finds photos, a map with a limit, a map that collects failures and has one undo for all, branches where they meet, and end steps. */
export function gallery(hands: Hands) {
  const end = hands.endStep
  return uploadPhotos(hands)
    .choose('layout', { on: ({ input }) => planOf(input).layout, cases: ['grid', 'list'] })
    .step('grid', { ...hands.deed, dependsOn: ['upload'], when: { layout: 'grid' } })
    .step('list', { ...hands.deed, dependsOn: ['upload'], when: { layout: 'list' } })
    .step('review', {
      ...hands.deed,
      dependsOn: ['upload'],
      when: ({ deps }) => deps.upload.some(({ status }) => status === 'failed'),
    })
    .step('index', {
      dependsOn: ['upload', 'grid', 'list', 'review'],
      onSkipped: 'run',
      run: async (call) => {
        const { deps, progress } = call
        const digest = {
          uploaded: deps.upload.map((photo) => (photo.status === 'completed' ? photo.output : 'failed')),
          layouts: [deps.grid, deps.list].filter((layout) => layout !== undefined).length,
          reviewed: deps.review !== undefined,
        }
        await hands.effect(call)
        await progress(digest.uploaded.length, digest.uploaded.length)
        return hands.published(call, digest)
      },
      compensateOn: 'started',
      compensate: (call) => hands.effect(call, true),
    })
    .step('finish', { dependsOn: ['index'], run: (call) => hands.failIfAsked(call) })
    .onCompleted('announce', { run: end })
    .onFailed('alert', { run: end })
    .onCompensated('apologise', { run: end })
    .finally('count', { dependsOn: ['announce', 'alert', 'apologise'], onSkipped: 'run', run: end })
}

function uploadPhotos(hands: Hands) {
  return findPhotos(hands)
    .map('resize', {
      dependsOn: ['fetch'],
      over: ({ deps }) => deps.fetch.photos,
      itemKey: (photo) => photo,
      concurrency: RESIZED_AT_ONCE_MAX,
      ...hands.deed,
      run: async (call) => {
        await hands.effect(call)
        return `small ${call.item}`
      },
    })
    .map('upload', {
      dependsOn: ['fetch', 'resize'],
      over: ({ deps }) => deps.fetch.photos.map((photo, index) => ({ photo, file: deps.resize[index]! })),
      itemKey: ({ photo }) => photo,
      onFailure: 'collect',
      compensateOn: 'started',
      run: async (call) => {
        if (planOf(call.input).hasBadPhoto && call.item.photo === BAD_PHOTO)
          throw new PermanentError('This photo cannot be read.')
        await hands.effect(call)
        return `${call.item.file}, uploaded`
      },
      compensateAll: (call) => hands.undoItems(call),
    })
}

function findPhotos(hands: Hands) {
  return define('gallery', { version: 1, input: unchecked<Input>(), retry: RETRY })
    .step('open', {
      compensateOn: 'started',
      run: (call) => hands.effect(call),
      compensate: (call) => hands.undoUnlessParked(call),
    })
    .repeat('fetch', {
      dependsOn: ['open'],
      first: () => ({ photos: [] as string[] }),
      run: async (call) => {
        await hands.effect(call)
        const { photos } = call.last
        const found = Array.from({ length: PHOTOS_PER_ROUND }, (_, index) => `p${photos.length + index}`)
        return { photos: [...photos, ...found] }
      },
      until: ({ round, input }) => round === planOf(input).rounds,
      delay: '20ms',
      compensateOn: 'started',
      compensate: (call) => hands.effect(call, true),
    })
}
