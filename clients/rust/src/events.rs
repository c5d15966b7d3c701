//! The events of a flush or a compaction, as a stream.

use std::collections::VecDeque;
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
    /// The rest of a response.
    waiting: VecDeque<FlushEvent>,
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
    fn poll_events(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<VecDeque<FlushEvent>>>> {
        let events = match self {
            Self::Flush(stream) => ready!(Pin::new(stream).poll_next(context))
                .map(|it| it.map(|response| known_events(response.event, response.further_events))),
            Self::Compact(stream) => ready!(Pin::new(stream).poll_next(context))
                .map(|it| it.map(|response| known_events(response.event, response.further_events))),
        };
        Poll::Ready(events.map(|it| it.map_err(Error::of_status)))
    }
}

/// Events of kinds that this client does not know are left out.
fn known_events(first: Option<FlushEvent>, further: Vec<FlushEvent>) -> VecDeque<FlushEvent> {
    first.into_iter().chain(further).filter(|it| it.event.is_some()).collect()
}

impl FlushStream {
    /// Waits for the first response, since failures of the call come with it.
    pub(crate) async fn open<R>(
        call: impl Future<Output = std::result::Result<Response<Streaming<R>>, Status>>,
        source_of: fn(Streaming<R>) -> Source,
        timeout: Option<Duration>,
    ) -> Result<Self> {
        let source = source_of(within(timeout, call).await?.into_inner());
        let deadline = timeout.map(|timeout| (timeout, Box::pin(tokio::time::sleep(timeout))));
        let mut stream =
            Self { source: Some(source), waiting: VecDeque::new(), deadline, completed: None, is_over: false };
        std::future::poll_fn(|context| stream.poll_response(context)).await.transpose()?;
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

    /// Waits for the next response and puts its events into `waiting`. After an error there is nothing more.
    fn poll_response(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<()>>> {
        let Some(source) = &mut self.source else {
            return Poll::Ready(None);
        };
        let failure = match source.poll_events(context) {
            Poll::Ready(Some(Ok(events))) => {
                self.waiting = events;
                return Poll::Ready(Some(Ok(())));
            }
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
        Poll::Ready(failure.map(Err))
    }
}

impl Stream for FlushStream {
    type Item = Result<FlushEvent>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let next = loop {
            if let Some(event) = self.waiting.pop_front() {
                break Some(Ok(event));
            }
            match ready!(self.poll_response(context)) {
                Some(Ok(())) => {}
                Some(Err(error)) => break Some(Err(error)),
                None => break None,
            }
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
    use bytes::{BufMut, Bytes};
    use http_body_util::Full;
    use prost::Message;
    use tonic::codec::Codec;
    use tonic_prost::ProstCodec;

    use super::*;
    use crate::v1::{FlushStarted, Notice};

    /// A stream of these events, so many of them in a response.
    async fn flushing(events: &[FlushEvent], together: usize) -> FlushStream {
        let body = events.chunks(together).flat_map(|chunk| {
            let response = FlushBatchesResponse { event: Some(chunk[0].clone()), further_events: chunk[1..].to_vec() };
            framed(&response)
        });
        FlushStream::open(received(body.collect()), Source::Flush, None).await.expect("a first response")
    }

    async fn received<R: Message + Default + 'static>(
        body: Bytes,
    ) -> std::result::Result<Response<Streaming<R>>, Status> {
        let decoder = ProstCodec::<R, R>::default().decoder();
        Ok(Response::new(Streaming::new_request(decoder, Full::new(body), None, None)))
    }

    fn framed(message: &impl Message) -> Vec<u8> {
        let mut frame = vec![0];
        frame.put_u32(u32::try_from(message.encoded_len()).expect("a small message"));
        message.encode(&mut frame).expect("room");
        frame
    }

    fn event(sequence: i64, event: Option<Event>) -> FlushEvent {
        FlushEvent { sequence, event, ..Default::default() }
    }

    fn told() -> Vec<FlushEvent> {
        vec![
            event(1, Some(Event::Started(FlushStarted::default()))),
            event(2, None), // of a kind that came later
            event(3, Some(Event::Notice(Notice::default()))),
            event(4, None),
            event(5, Some(Event::Completed(FlushCompleted { revision: "r2".to_owned(), ..Default::default() }))),
        ]
    }

    #[tokio::test]
    async fn events_come_in_order_however_many_a_response_has() {
        for together in 1..=5 {
            let mut stream = flushing(&told(), together).await;
            let mut sequences = Vec::new();
            while let Some(event) = stream.next().await {
                assert!(stream.completed().is_none() || sequences.len() == 2, "it is completed by its last event");
                sequences.push(event.expect("an event").sequence);
            }
            assert_eq!(sequences, [1, 3, 5], "{together} in a response");
            assert_eq!(stream.completed().expect("an end").revision, "r2");
            assert_eq!(flushing(&told(), together).await.wait().await.expect("an end").revision, "r2");
        }
    }

    #[tokio::test]
    async fn a_compaction_tells_its_events_as_a_flush_does() {
        let events = told();
        let response = CompactChainsResponse { event: Some(events[0].clone()), further_events: events[1..].to_vec() };
        let call = received(framed(&response).into());
        let stream = FlushStream::open(call, Source::Compact, None).await.expect("a first response");
        assert_eq!(stream.wait().await.expect("an end").revision, "r2");
    }

    #[tokio::test]
    async fn a_stream_without_its_last_event_is_cut_off() {
        for together in 1..=4 {
            let mut stream = flushing(&told()[..4], together).await;
            for _ in 0..2 {
                stream.next().await.expect("an event").expect("an event");
            }
            assert_eq!(stream.next().await.expect("the end is told").expect_err("no end").kind(), ErrorKind::Other);
            assert!(stream.next().await.is_none());
        }
    }

    #[tokio::test]
    async fn a_stream_that_ends_before_anything_has_come_is_cut_off_too() {
        let ended =
            || FlushStream { source: None, waiting: VecDeque::new(), deadline: None, completed: None, is_over: false };
        let mut stream = ended();
        let error = stream.next().await.expect("the end is told").expect_err("nothing has come");
        assert_eq!(error.kind(), ErrorKind::Other);
        assert!(stream.next().await.is_none());
        assert!(ended().wait().await.is_err());
    }
}
