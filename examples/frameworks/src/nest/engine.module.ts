import { createEngine, type Engine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common'
import { order } from '../order.ts'

/** An interface does not exist while a program runs, so what needs the engine asks for it by this token. */
export const ENGINE = Symbol('engine')

/** Gives the application one engine, which lives as long as the application. */
@Module({
  providers: [
    {
      provide: ENGINE,
      useFactory: () =>
        createEngine({
          adapter: postgres(process.env['DATABASE_URL'], { autoMigrate: true }),
          workflows: [order],
        }),
    },
  ],
  exports: [ENGINE],
})
export class EngineModule implements OnModuleInit, OnApplicationShutdown {
  readonly #engine: Engine

  constructor(@Inject(ENGINE) engine: Engine) {
    this.#engine = engine
  }

  /** Before the server listens. In a larger application the web process leaves this out, and workers are processes of their own. */
  async onModuleInit(): Promise<void> {
    await this.#engine.start()
  }

  /** After the server has closed: its last requests still needed the engine. */
  async onApplicationShutdown(): Promise<void> {
    await this.#engine.close({ timeout: '20s' })
  }
}
