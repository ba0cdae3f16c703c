import { define, unchecked } from '@belay/workflow'

/** A workflow that tells how far it is: its second step takes one photo at a time. `take` takes one. */
export function importPhotos(take: (photo: string) => Promise<void>) {
  return define('import-photos', { version: 1, input: unchecked<{ photos: readonly string[] }>() })
    .step('open', { run: ({ input }) => ({ count: input.photos.length }) })
    .step('take', {
      dependsOn: ['open'],
      run: async ({ input, deps, progress, publish, signal }) => {
        for (const [index, photo] of input.photos.entries()) {
          signal.throwIfAborted()
          await take(photo)
          await progress(index + 1, deps.open.count, photo)
          await publish('preview', { photo })
        }
        return { taken: input.photos.length }
      },
    })
}
