import { define, PermanentError } from '@belay/workflow'
import * as z from 'zod'
import { CreditMissingError, contactSheetFile, type Galleries, pictureFile, WIDTHS } from './gallery/index.ts'

// Pictures never travel through a workflow's inputs and outputs. Those contain only the names of files.
const gallerySchema = z.object({
  gallery: z.string(),
  photos: z.array(z.object({ name: z.string(), credit: z.string().optional() })).min(1),
})

/**
 * Makes a gallery of photographs, each in every size, and removes every file again if it cannot be published:
 *
 *                ┌─▶ resize[photo-01-120] ─┐
 *     resize[] ──┼─▶ …                     ┼─▶ resize ─▶ contactSheet ─▶ publish
 *                └─▶ resize[photo-08-30]  ──┘
 */
export function makeGallery(galleries: Galleries) {
  return define('make-gallery', { version: 1, input: gallerySchema })
    .map('resize', {
      over: ({ input }) =>
        input.photos.flatMap(({ name }) => WIDTHS.map((width) => ({ photo: name, width }))),
      itemKey: ({ photo, width }) => `${photo}-${width}`,
      // In all worker processes together, so that they leave the machine some room for others.
      concurrency: 20,
      run: ({ input, item }) => galleries.resize(input.gallery, item),
      // An attempt that failed, or whose process was killed, may have left a file, too.
      compensateOn: 'started',
      compensate: ({ input, item }) => galleries.remove(pictureFile(input.gallery, item)),
    })
    .step('contactSheet', {
      dependsOn: ['resize'],
      run: ({ input, deps }) => galleries.makeContactSheet(input.gallery, deps.resize),
      compensateOn: 'started',
      compensate: ({ input }) => galleries.remove(contactSheetFile(input.gallery)),
    })
    .step('publish', {
      dependsOn: ['contactSheet'],
      run: async ({ input }) => {
        try {
          return await galleries.publish(input.gallery, input.photos)
        } catch (error) {
          if (error instanceof CreditMissingError) throw new PermanentError(error.message, { cause: error })
          throw error
        }
      },
    })
}
