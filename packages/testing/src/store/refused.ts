/** A verb has certainly done nothing: because of its data, or for another reason. */
export class RefusedError extends Error {
  readonly refusal: 'data' | 'other'

  constructor(refusal: 'data' | 'other', message: string, options?: ErrorOptions) {
    super(message, options)
    this.refusal = refusal
  }
}
