import { Module } from '@nestjs/common'
import { APP_FILTER, NestFactory } from '@nestjs/core'
import { BelayErrorFilter } from './belay-error.filter.ts'
import { EngineModule } from './engine.module.ts'
import { OrdersController } from './orders.controller.ts'

@Module({
  imports: [EngineModule],
  controllers: [OrdersController],
  providers: [{ provide: APP_FILTER, useClass: BelayErrorFilter }],
})
class Application {}

const app = await NestFactory.create(Application, { logger: ['error', 'warn'] })
// Calls the hooks on SIGTERM and SIGINT, so the application has no stopOnSignals(). Without the option Nest ends the process by the signal itself.
app.enableShutdownHooks(['SIGTERM', 'SIGINT'], { useProcessExit: true })
await app.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1')
console.log(`nest listens on ${await app.getUrl()}`)
