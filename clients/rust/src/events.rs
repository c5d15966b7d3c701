//! The events of a flush or a compaction, as a stream.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use tokio::time::Sleep;
use tonic::{Response, Status, Streaming};

use crate::error::{Error, ErrorKind, Result};
use crate::transport::{deadline_exceeded, within};
use crate::v1::flush_event::Event;
use crate::v1::{CompactChainsResponse, FlushBatchesResponse, FlushCompleted, FlushEvent};

/// The events of a flush or a compaction as they come; the last one is always `completed`.
///
/// Dropping it before its end stops a flush that this call has started; one that it followed (`attach`) goes on.
#[derive(Debug)]
#[must_use = "a flush stops when its stream is dropped: read it to the end, for example by `wait`"]
pub struct FlushStream {
    source: Option<Source>,
    /// Read while the call was opened.
    first: Option<FlushEvent>,
    deadline: Option<(Duration, Pin<Box<Sleep>>)>,
    completed: Option<FlushCompleted>,
    /// The end, good or bad, has been told.
    is_over: bool,
}

#[derive(Debug)]
pub(crate) enum Source {
    Flush(Streaming<FlushBatchesResponse>),
    Compact(Streaming<CompactChainsResponse>),
}

impl Source {
    /// `Some(None)` is an answer without an event.
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Option<FlushEvent>>>> {
        let event = match self {
            Self::Flush(stream) => {
                ready!(Pin::new(stream).poll_next(context)).map(|it| it.map(|response| response.event))
            }
            Self::Compact(stream) => {
                ready!(Pin::new(stream).poll_next(context)).map(|it| it.map(|response| response.event))
            }
        };
        Poll::Ready(event.map(|it| it.map_err(Error::of_status)))
    }
}

impl FlushStream {
    /// Waits for the first event, since failures of the call come with it.
    pub(crate) async fn open<R>(
        call: impl Future<Output = std::result::Result<Response<Streaming<R>>, Status>>,
        source_of: fn(Streaming<R>) -> Source,
        timeout: Option<Duration>,
    ) -> Result<Self> {
        let source = source_of(within(timeout, call).await?.into_inner());
        let deadline = timeout.map(|timeout| (timeout, Box::pin(tokio::time::sleep(timeout))));
        let mut stream = Self { source: Some(source), first: None, deadline, completed: None, is_over: false };
        stream.first = std::future::poll_fn(|context| stream.poll_known_event(context)).await.transpose()?;
        Ok(stream)
    }

    /// The next event; `None`: that was the last one.
    pub async fn next(&mut self) -> Option<Result<FlushEvent>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// How it ended; `None` until the last event has come.
    pub fn completed(&self) -> Option<&FlushCompleted> {
        self.completed.as_ref()
    }

    /// Reads to the end and says how it ended.
    pub async fn wait(mut self) -> Result<FlushCompleted> {
        while let Some(event) = self.next().await {
            event?;
        }
        self.completed.take().ok_or_else(cut_off)
    }

    /// Events of kinds that this client does not know are left out. After an error there is nothing more.
    fn poll_known_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<FlushEvent>>> {
        let Some(source) = &mut self.source else {
            return Poll::Ready(None);
        };
        loop {
            let failure = match source.poll_event(context) {
                Poll::Ready(Some(Ok(Some(event)))) if event.event.is_some() => return Poll::Ready(Some(Ok(event))),
                Poll::Ready(Some(Ok(_))) => continue,
                Poll::Ready(Some(Err(error))) => Some(error),
                Poll::Ready(None) => None,
                Poll::Pending => {
                    let Some((timeout, sleep)) = &mut self.deadline else {
                        return Poll::Pending;
                    };
                    ready!(sleep.as_mut().poll(context));
                    Some(deadline_exceeded(*timeout))
                }
            };
            self.source = None;
            return Poll::Ready(failure.map(Err));
        }
    }
}

impl Stream for FlushStream {
    type Item = Result<FlushEvent>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let next = match self.first.take() {
            Some(event) => Some(Ok(event)),
            None => ready!(self.poll_known_event(context)),
        };
        if let Some(Ok(FlushEvent { event: Some(Event::Completed(completed)), .. })) = &next {
            self.completed = Some(completed.clone());
        }
        self.is_over = !matches!(next, Some(Ok(_)));
        let is_cut_off = next.is_none() && self.completed.is_none();
        Poll::Ready(if is_cut_off { Some(Err(cut_off())) } else { next })
    }
}

fn cut_off() -> Error {
    let message = "the stream ended before its last event: the outcome is in the diagnostics";
    Error::local(ErrorKind::Other, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_that_ends_before_anything_has_come_is_cut_off_too() {
        let ended = || FlushStream { source: None, first: None, deadline: None, completed: None, is_over: false };
        let mut stream = ended();
        let error = stream.next().await.expect("the end is told").expect_err("nothing has come");
        assert_eq!(error.kind(), ErrorKind::Other);
        assert!(stream.next().await.is_none());
        assert!(ended().wait().await.is_err());
    }
}
